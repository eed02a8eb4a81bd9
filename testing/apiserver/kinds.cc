#include "testing/apiserver/kinds.h"

#include <algorithm>
#include <utility>

#include "testing/apiserver/builtin_kinds.h"

namespace mandate::apiserver {
namespace {

// k8s.io/api has no .proto file for custom resource definitions.
std::shared_ptr<const ResourceType> DefinitionType() {
  auto type = std::make_shared<ResourceType>();
  type->name = {"apiextensions.k8s.io", "customresourcedefinitions"};
  type->version = "v1";
  type->kind = "CustomResourceDefinition";
  type->list_kind = "CustomResourceDefinitionList";
  type->singular = "customresourcedefinition";
  type->short_names = {"crd", "crds"};
  type->categories = {"api-extensions"};
  type->namespaced = false;
  type->has_status = true;
  type->has_generation = true;
  return type;
}

}  // namespace

Kinds::Kinds() {
  for (auto& type : BuiltinKinds()) Add(type);
  Add(DefinitionType());
}

void Kinds::Add(std::shared_ptr<const ResourceType> type) {
  auto& resources = groups_[type->name.group][type->version];
  resources.push_back(std::move(type));
  std::sort(resources.begin(), resources.end(),
            [](const auto& a, const auto& b) { return a->name < b->name; });
}

std::shared_ptr<const ResourceType> Kinds::Find(std::string_view group, std::string_view version,
                                                std::string_view resource) const {
  const auto versions = groups_.find(std::string(group));
  if (versions == groups_.end()) return nullptr;
  const auto resources = versions->second.find(std::string(version));
  if (resources == versions->second.end()) return nullptr;
  for (const auto& type : resources->second) {
    if (type->name.resource == resource) return type;
  }
  return nullptr;
}

std::shared_ptr<const ResourceType> Kinds::Find(const GroupResource& name) const {
  const auto versions = groups_.find(name.group);
  if (versions == groups_.end()) return nullptr;
  for (const auto& [version, resources] : versions->second) {
    if (auto type = Find(name.group, version, name.resource)) return type;
  }
  return nullptr;
}

std::shared_ptr<const ResourceType> Kinds::OfKind(std::string_view api_version,
                                                  std::string_view kind) const {
  const size_t slash = api_version.find('/');
  const std::string_view group = slash == api_version.npos ? "" : api_version.substr(0, slash);
  const std::string_view version =
      slash == api_version.npos ? api_version : api_version.substr(slash + 1);
  const auto versions = groups_.find(std::string(group));
  if (versions == groups_.end()) return nullptr;
  const auto resources = versions->second.find(std::string(version));
  if (resources == versions->second.end()) return nullptr;
  for (const auto& type : resources->second) {
    if (type->kind == kind) return type;
  }
  return nullptr;
}

void Kinds::SetCustom(const GroupResource& name,
                      std::vector<std::shared_ptr<const ResourceType>> versions) {
  for (auto& [version, resources] : groups_[name.group]) {
    std::erase_if(resources, [&](const auto& type) { return type->name == name; });
  }
  for (auto& type : versions) Add(std::move(type));
  std::erase_if(groups_[name.group], [](const auto& version) { return version.second.empty(); });
  if (groups_[name.group].empty()) groups_.erase(name.group);
}

}  // namespace mandate::apiserver
