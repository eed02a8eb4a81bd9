#include "rbacgen/analysis/manifests.h"

#include <yaml-cpp/yaml.h>

#include <map>
#include <sstream>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/selector.h"

namespace mandate::rbacgen {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxAliased = 1'000'000;

absl::Status Merge(const YAML::Node& key, const YAML::Node& value, int depth, size_t* left,
                   Json::Value* map);

// YAML 1.1's merge key, which is not in quotes.
bool IsMergeKey(const YAML::Node& key) {
  return key.Scalar() == "<<" && key.Tag() != "!" && key.Tag() != "tag:yaml.org,2002:str";
}

// RBAC objects are made of strings: nothing else needs a type. `left` counts down with each value,
// because an alias brings all that it stands for again.
absl::StatusOr<Json::Value> StringsOf(const YAML::Node& node, int depth, size_t* left) {
  if (depth > kMaxDepth) return absl::InvalidArgumentError("nested too deep");
  if ((*left)-- == 0) {
    return absl::InvalidArgumentError(
        StrCat("its aliases stand for more than ", kMaxAliased, " values"));
  }
  if (node.IsScalar()) return Json::Value(node.Scalar());
  if (node.IsSequence()) {
    Json::Value list(Json::arrayValue);
    for (const YAML::Node& item : node) {
      ASSIGN_OR_RETURN(Json::Value value, StringsOf(item, depth + 1, left));
      list.append(std::move(value));
    }
    return list;
  }
  if (node.IsMap()) {
    Json::Value map(Json::objectValue);
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) continue;
      if (IsMergeKey(entry.first)) {
        RETURN_IF_ERROR(Merge(entry.first, entry.second, depth + 1, left, &map));
        continue;
      }
      ASSIGN_OR_RETURN(map[entry.first.Scalar()], StringsOf(entry.second, depth + 1, left));
    }
    return map;
  }
  return Json::Value();
}

// Adds the entries of the map, or of the maps, that a merge key has. As kubectl does (yaml v2):
// what comes later in the text replaces what comes before; of several maps the first one counts.
absl::Status Merge(const YAML::Node& key, const YAML::Node& value, int depth, size_t* left,
                   Json::Value* map) {
  if (!value.IsMap() && !value.IsSequence()) {
    return absl::InvalidArgumentError(
        StrCat("line ", key.Mark().line + 1, ": the merge key << needs a map or a list of maps"));
  }
  if (value.IsSequence()) {
    for (size_t i = value.size(); i-- > 0;) {
      // A list in a list is an error, as a scalar is.
      const YAML::Node& item = value[i].IsSequence() ? key : value[i];
      RETURN_IF_ERROR(Merge(key, item, depth, left, map));
    }
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(Json::Value merged, StringsOf(value, depth, left));
  for (const std::string& name : merged.getMemberNames()) {
    (*map)[name] = std::move(merged[name]);
  }
  return absl::OkStatus();
}

std::string Text(const Json::Value& object, std::string_view key) {
  const Json::Value* value = FindMember(object, key);
  return value != nullptr && value->isString() ? value->asString() : "";
}

std::vector<std::string> Texts(const Json::Value& object, std::string_view key) {
  std::vector<std::string> texts;
  const Json::Value* list = FindMember(object, key);
  if (list == nullptr || !list->isArray()) return texts;
  for (const Json::Value& item : *list) {
    if (item.isString()) texts.push_back(item.asString());
  }
  return texts;
}

template <class Read>
auto Each(const Json::Value& object, std::string_view key, Read read) {
  std::vector<decltype(read(object))> all;
  const Json::Value* list = FindMember(object, key);
  if (list == nullptr || !list->isArray()) return all;
  for (const Json::Value& item : *list) all.push_back(read(item));
  return all;
}

rbac::Rule ReadRule(const Json::Value& rule) {
  return {.verbs = Texts(rule, "verbs"),
          .api_groups = Texts(rule, "apiGroups"),
          .resources = Texts(rule, "resources"),
          .resource_names = Texts(rule, "resourceNames"),
          .non_resource_urls = Texts(rule, "nonResourceURLs")};
}

rbac::Subject ReadSubject(const Json::Value& s) {
  return {Text(s, "kind"), Text(s, "apiGroup"), Text(s, "name"), Text(s, "namespace")};
}

class Reader {
 public:
  Reader(const std::string& input, const std::string& default_ns)
      : input_(input), default_ns_(default_ns) {}

  absl::Status Add(const Json::Value& object) {
    if (object.isArray()) {
      for (const Json::Value& item : object) RETURN_IF_ERROR(Add(item));
      return absl::OkStatus();
    }
    if (const Json::Value* items = FindMember(object, "items");
        items != nullptr && items->isArray() && Text(object, "kind").ends_with("List")) {
      for (const Json::Value& item : *items) RETURN_IF_ERROR(Add(item));
      return absl::OkStatus();
    }
    const std::string kind = Text(object, "kind"), version = Text(object, "apiVersion");
    const Json::Value* metadata = FindMember(object, "metadata");
    if (metadata == nullptr) return absl::OkStatus();
    std::string name = Text(*metadata, "name");
    const bool is_generated = name.empty();
    if (is_generated) name = StrCat(Text(*metadata, "generateName"), kGeneratedName);
    std::string ns = Text(*metadata, "namespace");
    const bool is_namespaced = kind == "ServiceAccount" || kind == "Role" || kind == "RoleBinding";
    if (ns.empty() && is_namespaced) {
      ns = default_ns_;
      ++world_.without_namespace;
    }
    if (kind == "ServiceAccount" && version == "v1" && !is_generated)
      world_.accounts.emplace(ns, name);
    if (kind == "CustomResourceDefinition") NoteNames(object);
    if (!version.starts_with("rbac.authorization.k8s.io/")) return absl::OkStatus();
    rbac::Policy& policy = world_.policy;
    if (kind == "Role") {
      policy.roles.push_back({ns, name, Each(object, "rules", ReadRule)});
    } else if (kind == "ClusterRole") {
      // Others may aggregate it: its labels are its own.
      if (is_generated) StrAppend(&name, input_, policy.cluster_roles.size());
      policy.cluster_roles.push_back({name, Each(object, "rules", ReadRule)});
      return NoteAggregation(name, object, *metadata);
    } else if (kind == "RoleBinding") {
      policy.role_bindings.push_back(
          {ns, name, RoleRefOf(object), Each(object, "subjects", ReadSubject)});
    } else if (kind == "ClusterRoleBinding") {
      policy.cluster_role_bindings.push_back(
          {name, RoleRefOf(object), Each(object, "subjects", ReadSubject)});
    }
    return absl::OkStatus();
  }

  World Finish() {
    NoteSubjects(&world_);
    return std::move(world_);
  }

 private:
  static rbac::RoleRef RoleRefOf(const Json::Value& object) {
    const Json::Value* ref = FindMember(object, "roleRef");
    if (ref == nullptr) return {};
    return {Text(*ref, "apiGroup"), Text(*ref, "kind"), Text(*ref, "name")};
  }

  void NoteNames(const Json::Value& definition) {
    const Json::Value* spec = FindMember(definition, "spec");
    const Json::Value* names = spec == nullptr ? nullptr : FindMember(*spec, "names");
    if (names == nullptr) return;
    std::string singular = Text(*names, "singular");
    if (singular.empty()) singular = absl::AsciiStrToLower(Text(*names, "kind"));
    world_.custom.push_back({Text(*spec, "group"), Text(*names, "plural"), std::move(singular),
                             Texts(*names, "shortNames")});
  }

  absl::Status NoteAggregation(const std::string& name, const Json::Value& object,
                               const Json::Value& metadata) {
    Aggregation aggregation;
    if (const Json::Value* its = FindMember(metadata, "labels");
        its != nullptr && its->isObject()) {
      for (const std::string& key : its->getMemberNames())
        aggregation.labels[key] = Text(*its, key);
    }
    const Json::Value* rule = FindMember(object, "aggregationRule");
    const Json::Value* selectors =
        rule == nullptr ? nullptr : FindMember(*rule, "clusterRoleSelectors");
    if (selectors != nullptr && selectors->isArray()) {
      for (const Json::Value& selector : *selectors) {
        ASSIGN_OR_RETURN(LabelSelector parsed, LabelSelector::FromJson(WriteJson(selector)));
        aggregation.selectors.push_back(std::move(parsed));
      }
    }
    world_.aggregation.insert_or_assign(name, std::move(aggregation));
    return absl::OkStatus();
  }

  const std::string& input_;
  const std::string& default_ns_;
  World world_;
};

absl::Status AddYaml(std::string_view text, Reader* reader) {
  std::vector<YAML::Node> documents;
  try {
    documents = YAML::LoadAll(std::string(text));
  } catch (const YAML::Exception& e) {
    return absl::InvalidArgumentError(
        StrCat("line ", e.mark.line + 1, ": ", e.msg,
               text.find("{{") == text.npos
                   ? ""
                   : " (a Helm template? Render it first: helm template CHART | rbacgen … -)"));
  }
  // Without aliases there are fewer values than characters.
  size_t left = text.size() + kMaxAliased;
  for (const YAML::Node& document : documents) {
    ASSIGN_OR_RETURN(const Json::Value object, StringsOf(document, 0, &left));
    RETURN_IF_ERROR(reader->Add(object));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<World> ReadManifests(const std::string& name, std::string_view text,
                                    const std::string& default_ns) {
  Reader reader(name, default_ns);
  const size_t first = text.find_first_not_of(" \t\r\n");
  absl::StatusOr<Json::Value> json = absl::InvalidArgumentError("not JSON");
  if (first != text.npos && (text[first] == '{' || text[first] == '[')) json = ParseJson(text);
  const absl::Status status = json.ok() ? reader.Add(*json) : AddYaml(text, &reader);
  if (!status.ok()) {
    return absl::InvalidArgumentError(StrCat(name, ": ", AsStd(status.message())));
  }
  return reader.Finish();
}

}  // namespace mandate::rbacgen
