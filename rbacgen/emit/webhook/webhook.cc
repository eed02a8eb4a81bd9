#include "rbacgen/emit/webhook/webhook.h"

#include <array>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "manager/core/closest_name.h"
#include "manager/core/strings.h"
#include "rbacgen/emit/webhook/webhook_patch.h"
#include "rbacgen/emit/webhook_check.h"
#include "rbacgen/markers/declarations.h"
#include "rbacgen/markers/marker_arguments.h"
#include "rbacgen/markers/source_comments.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

constexpr std::string_view kWebhook = "kubebuilder:webhook";
constexpr std::string_view kConfiguration = "kubebuilder:webhookconfiguration";
constexpr std::string_view kComponent = "mandate:component";

using enum ArgumentType;

constexpr ArgumentSpec kWebhookArguments[] = {
    {"mutating", kBool, true},
    {"failurePolicy", kString, true},
    {"matchPolicy", kString},
    {"sideEffects", kString},
    {"timeoutSeconds", kInt},
    {"groups", kStrings, true},
    {"resources", kStrings, true},
    {"verbs", kStrings, true},
    {"versions", kStrings, true},
    {"name", kString, true},
    {"serviceName", kString},
    {"serviceNamespace", kString},
    {"servicePort", kInt},
    {"path", kString},
    {"webhookVersions", kStrings},
    {"admissionReviewVersions", kStrings, true},
    {"reinvocationPolicy", kString},
    {"url", kString},
    {"patch", kString},
};

constexpr ArgumentSpec kConfigurationArguments[] = {{"mutating", kBool, true}, {"name", kString}};
// The API's spelling of the word, found without regard to case; if it is not one of `words`, the
// text itself.
std::string ApiWord(const std::string& text, std::initializer_list<const char*> words) {
  for (const char* word : words) {
    if (absl::AsciiStrToLower(text) == absl::AsciiStrToLower(word)) return word;
  }
  return text;
}

Json::Value StringList(const std::vector<std::string>& strings) {
  Json::Value list(Json::arrayValue);
  for (const std::string& s : strings) list.append(s);
  return list;
}

Json::Value ClientConfig(const Arguments& arguments) {
  Json::Value config;
  if (const std::string url = arguments.String("url"); !url.empty()) config["url"] = url;
  const std::string path = arguments.String("path");
  if (path.empty()) return config;
  const auto or_default = [&](const char* argument, const char* value) {
    const std::string given = arguments.String(argument);
    return given.empty() ? value : given;
  };
  Json::Value& service = config["service"];
  service["name"] = or_default("serviceName", "webhook-service");
  service["namespace"] = or_default("serviceNamespace", "system");
  service["path"] = path;
  if (arguments.Has("servicePort")) {
    service["port"] = static_cast<Json::Int64>(arguments.Int("servicePort"));
  }
  return config;
}

Json::Value Rules(const Arguments& arguments) {
  std::vector<std::string> groups = arguments.Strings("groups");
  for (std::string& group : groups) {
    if (group == "core") group.clear();
  }
  std::vector<std::string> operations = arguments.Strings("verbs");
  for (std::string& verb : operations) {
    verb = ApiWord(verb, {"CREATE", "UPDATE", "DELETE", "CONNECT", "*"});
  }
  Json::Value rule;
  rule["apiGroups"] = StringList(groups);
  rule["apiVersions"] = StringList(arguments.Strings("versions"));
  rule["resources"] = StringList(arguments.Strings("resources"));
  rule["operations"] = StringList(operations);
  Json::Value rules(Json::arrayValue);
  rules.append(std::move(rule));
  return rules;
}

Json::Value ObjectOf(const Arguments& arguments) {
  Json::Value object;
  object["name"] = arguments.String("name");
  object["rules"] = Rules(arguments);
  object["clientConfig"] = ClientConfig(arguments);
  object["admissionReviewVersions"] = StringList(arguments.Strings("admissionReviewVersions"));
  object["failurePolicy"] = ApiWord(arguments.String("failurePolicy"), {"Ignore", "Fail"});
  const auto word = [&](const char* argument, std::initializer_list<const char*> words) {
    if (const std::string text = arguments.String(argument); !text.empty()) {
      object[argument] = ApiWord(text, words);
    }
  };
  word("matchPolicy", {"Exact", "Equivalent"});
  word("sideEffects", {"None", "NoneOnDryRun", "Some", "Unknown"});
  if (arguments.Bool("mutating")) word("reinvocationPolicy", {"Never", "IfNeeded"});
  if (arguments.Has("timeoutSeconds")) {
    object["timeoutSeconds"] = static_cast<Json::Int64>(arguments.Int("timeoutSeconds"));
  }
  return object;
}

// The marker that a similar name probably means.
std::optional<std::string_view> MeantName(std::string_view name) {
  const std::string lower = absl::AsciiStrToLower(AsAbsl(name));
  if (lower.starts_with(kConfiguration)) return kConfiguration;
  if (lower.starts_with(kWebhook)) return kWebhook;
  for (const std::string_view known : {kWebhook, kConfiguration}) {
    if (EditDistance(lower, known) == 1) return known;
  }
  return std::nullopt;
}

class FileReader {
 public:
  FileReader(const std::string& file, Severity misplaced, Webhooks* webhooks,
             Diagnostics* diagnostics)
      : misplaced_(misplaced), webhooks_(*webhooks), diagnostics_(*diagnostics), place_{file} {}

  void Read(const PlusComment& comment) {
    place_.line = comment.line;
    const Marker marker = SplitMarker(comment.text.substr(1));
    const bool counts = comment.place == CommentPlace::kOwnLine;
    if (marker.name == kComponent) {
      const auto arguments =
          ParseArguments(ComponentArguments(), Repeated::kIsError, marker.arguments);
      // ReadDeclarations() reports mistakes in this marker.
      if (counts && arguments.ok()) component_ = arguments->String("name");
    } else if (marker.name != kWebhook && marker.name != kConfiguration) {
      const auto meant = MeantName(marker.name);
      if (!meant) return;
      diagnostics_.Add(counts ? Severity::kError : misplaced_, place_,
                       StrCat("unknown marker ", Quoted(StrCat("+", marker.name)),
                              "; did you mean +", *meant, ":argument=value,…?"));
    } else if (!counts) {
      diagnostics_.Add(
          misplaced_, place_,
          StrCat("+", marker.name,
                 comment.place == CommentPlace::kDoc
                     ? " in a documentation comment is not read as a marker; begin the "
                       "line with two slashes"
                     : " after code is not read as a marker; move it to its own line"));
    } else if (marker.name == kWebhook) {
      ReadWebhook(marker.arguments);
    } else {
      ReadConfiguration(marker.arguments);
    }
  }

 private:
  template <class... Parts>
  void Misread(std::string_view name, const Parts&... parts) {
    diagnostics_.Error(place_, StrCat("+", name, ": ", parts...));
  }

  std::optional<Arguments> Parse(std::string_view name, std::span<const ArgumentSpec> specs,
                                 std::string_view text) {
    auto arguments = ParseArguments(specs, Repeated::kLastWins, text);
    if (!arguments.ok()) {
      Misread(name, AsStd(arguments.status().message()));
      return std::nullopt;
    }
    for (const std::string& repeated : arguments->repeated()) {
      diagnostics_.Add(misplaced_, place_,
                       StrCat("argument ", Quoted(repeated),
                              " is given twice and only the last one is used: remove the first"));
    }
    return *std::move(arguments);
  }

  void ReadWebhook(std::string_view text) {
    const auto arguments = Parse(kWebhook, kWebhookArguments, text);
    if (!arguments) return;
    for (const std::string& version : arguments->Strings("webhookVersions")) {
      if (version == "v1") continue;
      return Misread(kWebhook, "webhookVersions ", Quoted(version),
                     " is not supported: Kubernetes 1.22 and later support only v1");
    }
    if (arguments->String("url").empty() == arguments->String("path").empty()) {
      return Misread(kWebhook, "needs either path (of the service) or url");
    }
    // 0 means that the argument is not set; it is omitted.
    for (const char* number : {"timeoutSeconds", "servicePort"}) {
      const int64_t value = arguments->Int(number);
      if (value < 0 || value > std::numeric_limits<int32_t>::max()) {
        return Misread(kWebhook, number, " must be between 1 and ",
                       number == std::string_view("servicePort") ? 65535 : 30, ", got ", value);
      }
    }
    Webhook webhook;
    webhook.mutating = arguments->Bool("mutating");
    if (!webhook.mutating && arguments->Has("reinvocationPolicy")) {
      diagnostics_.Add(
          misplaced_, place_,
          "reinvocationPolicy applies only to mutating webhooks and has no effect here");
    }
    webhook.object = ObjectOf(*arguments);
    const std::string patch = arguments->String("patch");
    auto patched = PatchWebhook(webhook.object, patch, webhook.mutating);
    if (!patched.ok()) return Misread(kWebhook, "patch: ", AsStd(patched.status().message()));
    webhook.object = *std::move(patched);
    webhook.names_service = !arguments->String("serviceName").empty();
    webhook.names_namespace = !arguments->String("serviceNamespace").empty();
    webhook.component = component_;
    webhook.place = place_;
    const std::vector<std::string> mistakes = CheckWebhook(webhook.object);
    for (const std::string& mistake : mistakes) Misread(kWebhook, mistake);
    if (mistakes.empty()) webhooks_.webhooks.push_back(std::move(webhook));
  }

  void ReadConfiguration(std::string_view text) {
    const auto arguments = Parse(kConfiguration, kConfigurationArguments, text);
    if (!arguments) return;
    const std::string name = arguments->String("name");
    if (name.empty()) return;  // controller-gen's default name, as if there were no marker
    if (const std::string mistake = CheckConfigurationName(name); !mistake.empty()) {
      return Misread(kConfiguration, mistake);
    }
    webhooks_.names.push_back({arguments->Bool("mutating"), name, place_});
  }

  const Severity misplaced_;
  Webhooks& webhooks_;
  Diagnostics& diagnostics_;
  Place place_;
  std::string component_;
};

}  // namespace

void ReadWebhooks(const std::string& file, std::string_view text, Severity misplaced,
                  Webhooks* webhooks, Diagnostics* diagnostics) {
  FileReader reader(file, misplaced, webhooks, diagnostics);
  for (const PlusComment& comment : FindPlusComments(text, LanguageOf(file))) {
    if (comment.place != CommentPlace::kContinued) reader.Read(comment);
  }
}

}  // namespace mandate::rbacgen
