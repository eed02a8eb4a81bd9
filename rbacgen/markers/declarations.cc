#include "rbacgen/markers/declarations.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <utility>

#include "manager/core/closest_name.h"
#include "manager/core/strings.h"
#include "manager/object/names.h"
#include "manager/rbac/mandate.h"
#include "manager/rbac/marker.h"
#include "rbacgen/markers/marker_arguments.h"
#include "rbacgen/markers/source_comments.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

constexpr std::string_view kKubebuilderRbac = "kubebuilder:rbac";
constexpr std::string_view kMandateRbac = "mandate:rbac";
constexpr std::string_view kComponent = "mandate:component";
constexpr std::string_view kFence = "mandate:fence";
constexpr std::string_view kJustify = "mandate:justify";
constexpr std::array kNames = {kKubebuilderRbac, kMandateRbac, kComponent, kFence, kJustify};

using enum ArgumentType;

constexpr ArgumentSpec kKubebuilderArguments[] = {
    {"groups", kStrings},      {"resources", kStrings}, {"resourceNames", kStrings},
    {"verbs", kStrings, true}, {"urls", kStrings},      {"namespace", kString},
    {"roleName", kString},
};

constexpr ArgumentSpec kMandateArguments[] = {
    {"granted", kString},       {"justify", kString},        {"groups", kStrings},
    {"resources", kStrings},    {"resourceNames", kStrings}, {"verbs", kStrings, true},
    {"urls", kStrings},         {"namespace", kString},      {"namespaces", kStrings},
    {"fieldSelector", kString},
};

constexpr ArgumentSpec kJustifyArguments[] = {{"reason", kString, true}};

// The marker that a similar name probably means; compares without capitals and blanks.
std::optional<std::string_view> MeantName(std::string_view text) {
  std::string head;
  for (const char c : text.substr(0, text.find('='))) {
    if (c != ' ' && c != '\t')
      head += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  for (std::string_view name : kNames) {
    if (head.starts_with(name)) return name;
  }
  if (head.starts_with("mandate:")) {
    if (head.starts_with("mandate:r")) return kMandateRbac;
    if (head.starts_with("mandate:j")) return kJustify;
    return head.starts_with("mandate:f") ? kFence : kComponent;
  }
  const std::string_view stem = std::string_view(head).substr(0, head.rfind(':'));
  for (std::string_view name : kNames) {
    if (EditDistance(stem, name) == 1 || EditDistance(head, name) == 1) return name;
  }
  return std::nullopt;
}

bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t") == text.npos; }

// Whether the path consists of names of letters and digits, with dots between them.
bool IsValuePath(std::string_view path) {
  bool in_name = false;
  for (const unsigned char c : path) {
    if (std::isalnum(c) == 0 && (c != '.' || !in_name)) return false;
    in_name = c != '.';
  }
  return in_name;
}

class FileReader {
 public:
  FileReader(const std::string& file, Severity misplaced, Sources* sources,
             Diagnostics* diagnostics, const std::string& component)
      : file_(file),
        misplaced_(misplaced),
        sources_(*sources),
        diagnostics_(*diagnostics),
        component_(component),
        is_named_(component.empty()) {}

  // `whole` is the whole marker, with its "+".
  void Read(const PlusComment& comment, std::string_view whole) {
    place_ = {file_, comment.line};
    const std::string_view text = whole.substr(1);
    const Marker marker = SplitMarker(text);
    const bool known = std::find(kNames.begin(), kNames.end(), marker.name) != kNames.end();
    if (!known) {
      if (const auto meant = MeantName(text)) {
        // Prose in other places may begin with a plus.
        diagnostics_.Add(comment.place == CommentPlace::kOwnLine ? Severity::kError : misplaced_,
                         place_,
                         StrCat("unknown marker ", Quoted(whole.substr(0, whole.find('='))),
                                "; did you mean +", *meant, ":argument=value,…?"));
      }
    } else if (comment.place == CommentPlace::kDoc) {
      diagnostics_.Add(misplaced_, place_,
                       StrCat("+", marker.name,
                              " in a documentation comment is not read as a marker; begin the line "
                              "with two slashes"));
    } else if (comment.place == CommentPlace::kAfterCode) {
      diagnostics_.Add(
          misplaced_, place_,
          StrCat("+", marker.name, " after code is not read as a marker; move it to its own line"));
    } else if (marker.name == kJustify) {
      Finish();
      ReadReason(marker.arguments);
    } else if (marker.name == kComponent) {
      Finish();
      ReadComponent(marker.arguments);
    } else if (marker.name == kFence) {
      Finish();
      ReadFenceMarker(marker.arguments);
    } else {
      ReadRule(marker);
    }
  }

  // Reports a reason without a rule below it. Called at the next marker and at the end of the file.
  void Finish() {
    if (!reason_.has_value()) return;
    diagnostics_.Error(
        reason_->place,
        "this reason has no rule; write it above the +kubebuilder:rbac marker that needs it");
    reason_.reset();
  }

 private:
  struct Reason {
    std::string text;
    Place place;
  };

  void Misread(std::string text) { diagnostics_.Error(place_, std::move(text)); }

  std::optional<Arguments> Parse(std::string_view name, std::span<const ArgumentSpec> specs,
                                 Repeated repeated, std::string_view text) {
    absl::StatusOr<Arguments> arguments = ParseArguments(specs, repeated, text);
    if (arguments.ok()) return *std::move(arguments);
    Misread(StrCat("+", name, ": ", arguments.status().message()));
    return std::nullopt;
  }

  void ReadComponent(std::string_view text) {
    // Even if the name is invalid, the rules below do not belong to the component above.
    component_.assign(1, '?');
    is_named_ = true;
    const auto arguments = Parse(kComponent, ComponentArguments(), Repeated::kIsError, text);
    if (!arguments) return;
    const std::string name = arguments->String("name");
    if (const absl::Status valid = CheckDnsLabel(name); !valid.ok()) {
      return Misread(StrCat("component name: ", valid.message()));
    }
    if (name == "base") {
      return Misread(
          "component name \"base\" is reserved for the manager's own identity; choose another "
          "name");
    }
    component_ = name;
    sources_.components[name].push_back(place_);
    if (arguments->Has("events")) {
      const std::string events = arguments->String("events");
      if (events != "none") {
        return Misread(
            StrCat("component ", name,
                   ": argument \"events\" must be \"none\" (the component records no events), got ",
                   Quoted(events)));
      }
      sources_.without_events.insert(name);
    }
    if (arguments->Has("unless") && !arguments->Has("value")) {
      return Misread(StrCat("component ", name,
                            ": argument \"unless\" needs argument \"value\", the chart's value "
                            "that enables the component"));
    }
    for (const char* path : {"value", "unless"}) {
      if (arguments->Has(path) && !IsValuePath(arguments->String(path))) {
        return Misread(StrCat("component ", name, ": ", path,
                              " must be the path of a chart's value, such as ",
                              "\"metrics.secure\", got ", Quoted(arguments->String(path))));
      }
    }
    if (!arguments->Has("value")) return;
    AddValue(name, {arguments->String("value"), arguments->String("unless"), place_}, &sources_,
             &diagnostics_);
  }

  void ReadFenceMarker(std::string_view text) {
    absl::StatusOr<Fence> fence = ReadFence(text);
    if (!fence.ok()) return Misread(StrCat("+", kFence, ": ", AsStd(fence.status().message())));
    sources_.fences.push_back({*std::move(fence), component_, place_});
  }

  void ReadReason(std::string_view text) {
    const auto arguments = Parse(kJustify, kJustifyArguments, Repeated::kIsError, text);
    if (!arguments) return;
    reason_ = Reason{arguments->String("reason"), place_};
    if (IsBlank(reason_->text)) {
      reason_.reset();
      Misread("+mandate:justify: reason is empty; write why the component needs this permission");
    }
  }

  // What is wrong with a rule's namespace; empty: nothing.
  static std::string NamespaceMistake(std::string_view ns, bool may_be_the_managers) {
    if (ns == rbac::kNamespaceToWrite) {
      return StrCat("namespace=", ns, ": write the name of the namespace");
    }
    if (ns == rbac::kManagerNamespace && !may_be_the_managers) {
      return StrCat("namespace=", ns,
                    " is supported only in +mandate:rbac markers without granted");
    }
    return "";
  }

  void ReadRule(const Marker& marker) {
    const auto reason = std::exchange(reason_, std::nullopt);
    const bool ours = marker.name == kMandateRbac;
    const auto arguments =
        ours
            ? Parse(kMandateRbac, kMandateArguments, Repeated::kIsError, marker.arguments)
            : Parse(kKubebuilderRbac, kKubebuilderArguments, Repeated::kLastWins, marker.arguments);
    if (!arguments) return;
    Declaration d;
    d.rule = {.verbs = arguments->Strings("verbs"),
              .api_groups = arguments->Strings("groups"),
              .resources = arguments->Strings("resources"),
              .resource_names = arguments->Strings("resourceNames"),
              .non_resource_urls = arguments->Strings("urls")};
    for (const std::string& name : arguments->repeated()) {
      diagnostics_.Add(misplaced_, place_,
                       StrCat("argument ", Quoted(name),
                              " is given twice and only the last one is used: remove the first"));
    }
    d.ns = arguments->String("namespace");
    const bool ours_alone = ours && !arguments->Has("granted");
    if (const std::string mistake = NamespaceMistake(d.ns, ours_alone); !mistake.empty()) {
      return Misread(mistake);
    }
    d.selects_by_name = arguments->Has("fieldSelector");
    if (d.selects_by_name && arguments->String("fieldSelector") != "metadata.name") {
      return Misread(StrCat("+mandate:rbac: fieldSelector must be \"metadata.name\", got ",
                            Quoted(arguments->String("fieldSelector")),
                            "; RBAC supports no other field selector"));
    }
    d.role_name = arguments->String("roleName");
    d.ours = ours;
    d.justification = arguments->String("justify");
    if (reason.has_value()) {
      if (arguments->Has("justify"))
        return Misread(
            "+mandate:rbac: the rule has justify and also a +mandate:justify marker above it; "
            "remove one of them");
      d.justification = reason->text;
    }
    d.component = component_;
    d.arguments = std::string(marker.arguments);
    d.place = place_;
    if (arguments->Has("granted")) {
      if (arguments->String("granted") != "external") {
        return Misread(StrCat("+mandate:rbac: granted must be \"external\", got ",
                              Quoted(arguments->String("granted"))));
      }
      d.external = true;
    }
    if (arguments->Has("justify") && IsBlank(d.justification)) {
      return Misread(
          "+mandate:rbac: justify is empty; write why the component needs this permission");
    }
    // A component without a marker exists from its first rule on.
    if (!std::exchange(is_named_, true)) sources_.components[component_].push_back(place_);
    if (!arguments->Has("namespaces")) {
      sources_.declarations.push_back(std::move(d));
      return;
    }
    const std::vector<std::string> namespaces = arguments->Strings("namespaces");
    if (!d.ns.empty()) {
      return Misread(
          "+mandate:rbac: the rule has namespace and also namespaces; write all of them in "
          "namespaces");
    }
    if (namespaces.empty()) {
      return Misread(
          "+mandate:rbac: namespaces is empty; name at least one, or remove it for every "
          "namespace");
    }
    for (const std::string& ns : namespaces) {
      if (ns.empty()) return Misread("+mandate:rbac: namespaces has an empty name; remove it");
      const std::string mistake = NamespaceMistake(ns, ours_alone);
      if (!mistake.empty()) return Misread(mistake);
    }
    for (const std::string& ns : namespaces) {
      d.ns = ns;
      sources_.declarations.push_back(d);
    }
  }

  const std::string& file_;
  const Severity misplaced_;
  Sources& sources_;
  Diagnostics& diagnostics_;
  Place place_;
  std::string component_;
  // Whether the sources' components already have component_.
  bool is_named_;
  std::optional<Reason> reason_;  // for the next rule
};

}  // namespace

std::span<const ArgumentSpec> ComponentArguments() {
  static constexpr ArgumentSpec kArguments[] = {
      {"name", kString, true}, {"value", kString}, {"unless", kString}, {"events", kString}};
  return kArguments;
}

void AddValue(const std::string& component, ChartValue value, Sources* sources,
              Diagnostics* diagnostics) {
  const ChartValue& known = sources->values.emplace(component, value).first->second;
  if (known.path == value.path && known.unless == value.unless) return;
  const auto words = [](const ChartValue& v) {
    return StrCat("value=", v.path, v.unless.empty() ? "" : ",unless=", v.unless);
  };
  diagnostics->Error(value.place, StrCat("component ", component, " already has ", words(known),
                                         "; it cannot also have ", words(value)));
}

void ReadDeclarations(const std::string& file, std::string_view text, Severity misplaced,
                      Sources* sources, Diagnostics* diagnostics, const std::string& component) {
  FileReader reader(file, misplaced, sources, diagnostics, component);
  const std::vector<PlusComment> comments = FindPlusComments(text, LanguageOf(file));
  for (size_t i = 0; i < comments.size();) {
    const PlusComment& first = comments[i++];
    if (first.place == CommentPlace::kContinued) continue;
    if (first.place != CommentPlace::kOwnLine || !first.text.starts_with("+mandate:") ||
        !HasOpenString(first.text)) {
      reader.Read(first, first.text);
      continue;
    }
    std::string whole(first.text);
    while (i < comments.size() && comments[i].place == CommentPlace::kContinued &&
           HasOpenString(whole)) {
      StrAppend(&whole, " ", comments[i++].text);
    }
    reader.Read(first, whole);
  }
  reader.Finish();
}

}  // namespace mandate::rbacgen
