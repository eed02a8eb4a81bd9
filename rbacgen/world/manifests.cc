#include "rbacgen/world/manifests.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "manager/object/selector.h"
#include "rbacgen/world/documents.h"

namespace mandate::rbacgen {
namespace {

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

  // Adds an object. If it has no kind and apiVersion, it has those of the list that contains it.
  absl::Status Add(const Json::Value& object, std::string list_kind = "",
                   std::string list_version = "") {
    if (object.isArray()) return AddItems(object, "", "");
    if (!object.isObject()) return absl::InvalidArgumentError("this is not an object");
    std::string kind = Text(object, "kind"), version = Text(object, "apiVersion");
    if (kind.empty() && version.empty()) {
      kind = std::move(list_kind);
      version = std::move(list_version);
    }
    if (kind.empty()) return absl::InvalidArgumentError("this object has no kind");
    if (const Json::Value* items = FindMember(object, "items")) {
      // kubectl reads this as a list, whatever its kind is.
      if (!items->isArray() && !items->isNull()) {
        return absl::InvalidArgumentError("the items are not a list");
      }
      if (kind.ends_with("List")) kind.resize(kind.size() - std::string_view("List").size());
      return AddItems(*items, kind, version);
    }
    if (version.empty()) return absl::InvalidArgumentError("this object has no apiVersion");
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
      // The role stays a separate object even if its name is generated, because other roles may
      // select its labels.
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
  absl::Status AddItems(const Json::Value& items, const std::string& kind,
                        const std::string& version) {
    for (Json::ArrayIndex i = 0; i < items.size(); ++i) {
      if (items[i].isNull()) continue;
      if (const absl::Status status = Add(items[i], kind, version); !status.ok()) {
        return absl::InvalidArgumentError(StrCat("item ", i, ": ", AsStd(status.message())));
      }
    }
    return absl::OkStatus();
  }

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

}  // namespace

absl::StatusOr<World> ReadManifests(const std::string& name, std::string_view text,
                                    const std::string& default_ns) {
  Reader reader(name, default_ns);
  const auto error = [&](const absl::Status& status, std::string_view place) {
    return absl::InvalidArgumentError(StrCat(name, ": ", place, AsStd(status.message())));
  };
  const absl::StatusOr<std::vector<Document>> documents = ReadDocuments(text);
  if (!documents.ok()) return error(documents.status(), "");
  // A file of kustomize may omit its kind and apiVersion.
  const bool is_kustomization =
      name.ends_with("kustomization.yaml") || name.ends_with("kustomization.yml");
  const std::string kind = is_kustomization ? "Kustomization" : "";
  const std::string version = is_kustomization ? "kustomize.config.k8s.io/v1beta1" : "";
  for (const Document& document : *documents) {
    if (const absl::Status status = reader.Add(document.value, kind, version); !status.ok()) {
      return error(status, StrCat("line ", document.line, ": "));
    }
  }
  return reader.Finish();
}

}  // namespace mandate::rbacgen
