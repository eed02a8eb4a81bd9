#include "rbacgen/cli/config.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_join.h"
#include "manager/core/closest_name.h"
#include "manager/core/printable.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/names.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

using Read = std::function<absl::Status(const YAML::Node&)>;
using Keys = std::map<std::string, Read>;

// Reads one file. Each function returns a reader of a value into `to`, which outlives it.
class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  absl::Status Error(const YAML::Node& node, std::string_view text) const {
    return absl::InvalidArgumentError(
        StrCat(file_, ":", std::max(node.Mark().line, 0) + 1, ": ", text));
  }

  // `known` lists all keys; `required` lists those that must be present.
  absl::Status Map(const YAML::Node& node, std::string_view name, const Keys& known,
                   std::set<std::string> required = {}) const {
    if (!node.IsMap()) return Error(node, StrCat(name, " must be a map"));
    std::set<std::string> seen;
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) return Error(entry.first, "a key must be a string");
      const std::string key = entry.first.Scalar();
      const auto read = known.find(key);
      if (read == known.end()) return Error(entry.first, Unknown(key, name, known));
      if (!seen.insert(key).second) {
        return Error(entry.first, StrCat("key ", Quoted(key), " is given twice"));
      }
      required.erase(key);
      RETURN_IF_ERROR(read->second(entry.second));
    }
    if (required.empty()) return absl::OkStatus();
    return Error(node, StrCat(name, " needs the key ", Quoted(*required.begin())));
  }

  Read Text(std::string_view key, std::string* to) const {
    return [this, key, to](const YAML::Node& node) {
      if (!node.IsScalar() || node.Scalar().empty()) {
        return Error(node, StrCat(key, " must be a string"));
      }
      if (Printable(node.Scalar()) != node.Scalar()) {
        return Error(node, StrCat(key, " must not have control characters"));
      }
      *to = node.Scalar();
      return absl::OkStatus();
    };
  }

  Read Name(std::string_view key, absl::Status (*check)(std::string_view), std::string* to) const {
    return [this, key, check, to](const YAML::Node& node) -> absl::Status {
      RETURN_IF_ERROR(Text(key, to)(node));
      const absl::Status valid = check(*to);
      if (valid.ok()) return valid;
      return Error(node, StrCat(key, ": ", AsStd(valid.message())));
    };
  }

  Read Flag(std::string_view key, bool* to) const {
    return [this, key, to](const YAML::Node& node) {
      if (!node.IsScalar() || (node.Scalar() != "true" && node.Scalar() != "false")) {
        return Error(node, StrCat(key, " must be true or false"));
      }
      *to = node.Scalar() == "true";
      return absl::OkStatus();
    };
  }

  // Reads one of `words`, and passes its index to `set`.
  Read Word(std::string_view key, std::vector<std::string> words,
            std::function<void(size_t)> set) const {
    return [this, key, words, set](const YAML::Node& node) {
      const auto found = node.IsScalar() ? std::ranges::find(words, node.Scalar()) : words.end();
      if (found == words.end()) {
        std::string all;
        for (const std::string& word : words) StrAppend(&all, all.empty() ? "" : ", ", word);
        return Error(node, StrCat(key, " must be one of ", all));
      }
      set(found - words.begin());
      return absl::OkStatus();
    };
  }

  // Reads a list of strings, or a single string.
  Read Texts(std::string_view key, std::vector<std::string>* to) const {
    return [this, key, to](const YAML::Node& node) -> absl::Status {
      to->clear();
      if (node.IsScalar()) return Text(key, &to->emplace_back())(node);
      if (!node.IsSequence()) return Error(node, StrCat(key, " must be a list of strings"));
      for (const auto& item : node) RETURN_IF_ERROR(Text(key, &to->emplace_back())(item));
      return absl::OkStatus();
    };
  }

  // Reads a list of paths; each is a string or a map with options.
  Read SourcePaths(std::vector<SourcePath>* to) const {
    return [this, to](const YAML::Node& node) -> absl::Status {
      if (!node.IsSequence()) return Error(node, "sources must be a list of paths");
      for (const auto& item : node) {
        SourcePath& source = to->emplace_back();
        if (item.IsScalar()) {
          RETURN_IF_ERROR(Text("a source", &source.path)(item));
          continue;
        }
        RETURN_IF_ERROR(Map(item, "a source",
                            {{"path", Text("path", &source.path)},
                             {"needs-component", Flag("needs-component", &source.needs_component)}},
                            {"path"}));
      }
      return absl::OkStatus();
    };
  }

  Read Output(Config* to) const {
    return [this, to](const YAML::Node& node) -> absl::Status {
      return Map(node, "outputs",
                 {{"chart", [=, this](const YAML::Node& n) { return Chart(n, to); }},
                  {"header", [=, this](const YAML::Node& n) { return Header(n, to); }},
                  {"roles", [=, this](const YAML::Node& n) { return Roles(n, to); }},
                  {"webhook", [=, this](const YAML::Node& n) { return Webhook(n, to); }},
                  {"crd", [=, this](const YAML::Node& n) { return Crd(n, to); }},
                  {"audit-policy", [=, this](const YAML::Node& n) { return AuditPolicy(n, to); }}});
    };
  }

 private:
  static std::string Unknown(const std::string& key, std::string_view name, const Keys& known) {
    std::string text = StrCat("unknown key ", Quoted(key), " in ", name);
    std::vector<std::string> names;
    for (const auto& [other, read] : known) names.push_back(other);
    if (const auto near = ClosestName(key, names)) {
      return text + "; did you mean " + Quoted(*near) + "?";
    }
    return StrCat(text, "; known keys: ", absl::StrJoin(names, ", "));
  }

  absl::Status Chart(const YAML::Node& node, Config* to) const {
    ChartOutput& chart = to->chart.emplace();
    return Map(node, "chart",
               {{"dir", Text("dir", &chart.dir)},
                {"minimal", Flag("minimal", &chart.minimal)},
                {"cluster-scoped", Texts("cluster-scoped", &chart.cluster_scoped)}},
               {"dir"});
  }

  absl::Status Header(const YAML::Node& node, Config* to) const {
    HeaderOutput& header = to->header.emplace();
    static const std::vector<std::string> kBases = {"none", "with", "only"};
    return Map(node, "header",
               {{"out", Text("out", &header.out)},
                {"base", Word("base", kBases, [&](size_t i) { header.base = kBases[i]; })}},
               {"out"});
  }

  absl::Status Roles(const YAML::Node& node, Config* to) const {
    RolesOutput& roles = to->roles.emplace();
    return Map(node, "roles",
               {{"out", Text("out", &roles.out)},
                {"role-name", Text("role-name", &roles.role_name)},
                {"minimal", Flag("minimal", &roles.minimal)}},
               {"out"});
  }

  absl::Status Webhook(const YAML::Node& node, Config* to) const {
    WebhookOutput& webhook = to->webhook.emplace();
    return Map(node, "webhook",
               {{"out", Text("out", &webhook.out)},
                {"service-name", Text("service-name", &webhook.service_name)},
                {"service-namespace", Text("service-namespace", &webhook.service_namespace)}},
               {"out"});
  }

  absl::Status Crd(const YAML::Node& node, Config* to) const {
    CrdOutput& crd = to->crd.emplace();
    const auto number = [&](const YAML::Node& n) {
      int64_t value = 0;
      if (!n.IsScalar() || !absl::SimpleAtoi(n.Scalar(), &value) || value < 0) {
        return Error(n, "max-description must be a number of bytes");
      }
      crd.max_description = value;
      return absl::OkStatus();
    };
    return Map(node, "crd",
               {{"dir", Text("dir", &crd.dir)},
                {"files", Texts("files", &crd.files)},
                {"proto-path", Texts("proto-path", &crd.proto_path)},
                {"max-description", number}},
               {"dir", "files"});
  }

  absl::Status AuditPolicy(const YAML::Node& node, Config* to) const {
    AuditPolicyOutput& policy = to->audit_policy.emplace();
    return Map(node, "audit-policy",
               {{"out", Text("out", &policy.out)}, {"bodies", Flag("bodies", &policy.bodies)}},
               {"out"});
  }

  const std::string file_;
};

absl::Status CheckBaseName(std::string_view name) {
  RETURN_IF_ERROR(CheckDnsSubdomain(name));
  return CheckLabelValue(name);
}

absl::Status CheckNamespace(std::string_view name) { return CheckDnsLabel(name); }

}  // namespace

absl::StatusOr<Config> ParseConfig(const std::string& file, std::string_view text) {
  const Reader reader(file);
  Config config;
  const std::vector<ComponentFrom> from = {ComponentFrom::kMarker, ComponentFrom::kDir,
                                           ComponentFrom::kFile};
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    RETURN_IF_ERROR(reader.Map(
        root, "the configuration",
        {{"sources", reader.SourcePaths(&config.sources)},
         {"skip", reader.Texts("skip", &config.skip)},
         {"component-from", reader.Word("component-from", {"marker", "dir", "file"},
                                        [&](size_t i) { config.component_from = from[i]; })},
         {"warn-unjustified", reader.Flag("warn-unjustified", &config.warn_unjustified)},
         {"base-name", reader.Name("base-name", CheckBaseName, &config.base_name)},
         {"part-of", reader.Name("part-of", CheckNamespace, &config.part_of)},
         {"namespace", reader.Name("namespace", CheckNamespace, &config.ns)},
         {"outputs", reader.Output(&config)}},
        {"sources"}));
  } catch (const YAML::Exception& e) {
    return absl::InvalidArgumentError(StrCat(file, ":", e.mark.line + 1,
                                             ": this is not valid YAML (", e.msg,
                                             "); fix this line or the lines above it"));
  }
  if (config.roles && config.roles->role_name.empty() &&
      config.component_from == ComponentFrom::kMarker) {
    return absl::InvalidArgumentError(
        StrCat(file, ": roles needs the key \"role-name\", or component-from: dir"));
  }
  return config;
}

}  // namespace mandate::rbacgen
