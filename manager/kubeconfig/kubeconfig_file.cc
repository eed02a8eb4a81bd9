#include "manager/kubeconfig/kubeconfig_file.h"

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <set>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using Entries = std::map<std::string, KubeconfigEntry, std::less<>>;

// The maximum number of values in an entry's lists and maps, after aliases are expanded.
constexpr size_t kMaxNodes = 10'000;

// A plain scalar has the type of YAML 1.2's JSON schema; a quoted one is text.
Json::Value Scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;
  if (text == "true" || text == "false") return text == "true";
  if (absl::StatusOr<Json::Value> number = ParseJson(text); number.ok() && number->isNumeric()) {
    return *std::move(number);
  }
  return text;
}

// Returns false if there are more than `budget` values.
bool ToJson(const YAML::Node& node, size_t& budget, Json::Value& json) {
  if (budget == 0) return false;
  --budget;
  if (node.IsScalar()) {
    json = Scalar(node);
  } else if (node.IsSequence()) {
    json = Json::Value(Json::arrayValue);
    for (const YAML::Node& item : node) {
      if (!ToJson(item, budget, json.append(Json::Value()))) return false;
    }
  } else if (node.IsMap()) {
    json = Json::Value(Json::objectValue);
    for (const auto& pair : node) {
      if (!ToJson(pair.second, budget, json[pair.first.Scalar()])) return false;
    }
  }
  return true;
}

// Adds the entries of a list such as "clusters", which has elements {name: …, cluster: {…}}.
absl::Status AddEntries(const YAML::Node& list, const std::string& member, const std::string& path,
                        Entries& entries) {
  if (!list.IsDefined() || list.IsNull()) return absl::OkStatus();
  if (!list.IsSequence()) {
    return absl::InvalidArgumentError(StrCat(path, ": ", member, "s is not a list"));
  }
  std::set<std::string> seen;
  for (const YAML::Node& item : list) {
    if (!item.IsMap() || !item["name"].IsDefined() || !item["name"].IsScalar()) {
      return absl::InvalidArgumentError(StrCat(path, ": an entry of ", member, "s has no name"));
    }
    const std::string name = item["name"].Scalar();
    if (!seen.insert(name).second) {
      return absl::InvalidArgumentError(
          StrCat(path, ": there are two ", member, "s named \"", name, "\""));
    }
    KubeconfigEntry entry{.file = path, .members = {}};
    const YAML::Node body = item[member];
    if (body.IsDefined() && !body.IsNull()) {
      if (!body.IsMap()) {
        return absl::InvalidArgumentError(
            StrCat(path, ": ", member, " \"", name, "\" is not a map"));
      }
      for (const auto& pair : body) {
        if (pair.second.IsNull()) continue;
        const std::string key = pair.first.Scalar();
        entry.members[key] = pair.second.IsScalar() ? pair.second.Scalar() : "";
        if (pair.second.IsScalar()) continue;
        size_t budget = kMaxNodes;
        if (!ToJson(pair.second, budget, entry.trees[key])) {
          return absl::InvalidArgumentError(StrCat(path, ": ", member, " \"", name, "\": ", key,
                                                   " holds more than ", kMaxNodes, " values"));
        }
      }
    }
    entries.try_emplace(name, std::move(entry));
  }
  return absl::OkStatus();
}

absl::Status Add(std::string_view text, const std::string& path, KubeconfigFile& file) {
  const YAML::Node root = YAML::Load(std::string(text));
  if (!root.IsMap()) {
    return absl::InvalidArgumentError(
        StrCat(path, " is not a kubeconfig: it has no clusters, users and contexts"));
  }
  if (const YAML::Node kind = root["kind"];
      kind.IsDefined() && kind.IsScalar() && kind.Scalar() != "Config") {
    return absl::InvalidArgumentError(
        StrCat(path, " is not a kubeconfig: its kind is \"", kind.Scalar(), "\""));
  }
  const YAML::Node current = root["current-context"];
  if (file.current_context.empty() && current.IsDefined() && current.IsScalar()) {
    file.current_context = current.Scalar();
  }
  RETURN_IF_ERROR(AddEntries(root["clusters"], "cluster", path, file.clusters));
  RETURN_IF_ERROR(AddEntries(root["users"], "user", path, file.users));
  return AddEntries(root["contexts"], "context", path, file.contexts);
}

}  // namespace

std::string KubeconfigEntry::Get(std::string_view member) const {
  const auto at = members.find(member);
  return at == members.end() ? "" : at->second;
}

const Json::Value* KubeconfigEntry::Tree(std::string_view member) const {
  const auto at = trees.find(member);
  return at == trees.end() ? nullptr : &at->second;
}

std::string KubeconfigEntry::Path(std::string_view member) const {
  const std::filesystem::path path(Get(member));
  if (path.is_absolute()) return path.string();
  return (std::filesystem::path(file).parent_path() / path).lexically_normal().string();
}

absl::Status AddKubeconfig(std::string_view text, const std::string& path, KubeconfigFile& file) {
  try {
    return Add(text, path, file);
  } catch (const YAML::Exception& e) {
    // The parser's message quotes single characters of the text at most.
    return absl::InvalidArgumentError(StrCat(
        path, " is not a kubeconfig, because it is not valid YAML (line ", e.mark.line + 1, ": ",
        e.msg, "); `kubectl config view --kubeconfig=", path, "` must be able to read it"));
  }
}

}  // namespace mandate
