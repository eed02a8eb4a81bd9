#include "controllers/scope/template_reader.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/scope/binding.h"
#include "controllers/scope/generated_names.h"
#include "controllers/scope/indexes.h"
#include "controllers/scope/ownership.h"
#include "controllers/scope/role_template.h"
#include "controllers/scope/target.h"
#include "manager/core/status_macros.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;
using rbacv1::ClusterRole;
using rbacv1::ClusterRoleBinding;
using rbacv1::RoleBinding;

bool References(const ScopeInstance& instance, std::string_view template_name) {
  return instance.spec().scopetemplatename() == template_name &&
         !instance.metadata().has_deletiontimestamp();
}

// Whether the instance may want bindings there, or in the cluster when it is empty. Which
// namespaces its selector matches is not known here.
bool MayTarget(const ScopeInstance& instance, std::string_view ns) {
  const auto selector = NamespaceSelector(instance);
  const bool selects = !selector.ok() || selector->has_value();
  const auto& names = instance.spec().namespaces();
  if (ns.empty()) return names.empty() && !selects;
  return selects || std::find(names.begin(), names.end(), ns) != names.end();
}

// Whether an instance of the template may want that the binding grants the role.
bool MayWant(const ScopeInstance& instance, const RoleTemplate& role, const Binding& binding) {
  if (binding.object.subjects().empty()) return true;
  const Binding desired = DesiredBinding(instance, role, binding.key.ns);
  return desired.key == binding.key && MayTarget(instance, binding.key.ns) &&
         !HasMoreSubjects(desired, binding);
}

class Reader {
 public:
  Reader(const CallContext& context, const CacheView& cache, const ScopeTemplate& of)
      : context_(context), cache_(cache), of_(of) {}

  absl::StatusOr<Referenced> ReadReferenced() const {
    const KindInfo kind = KindOf<ScopeInstance>::value;
    const IndexQuery query{kByTemplate, of_.metadata().name()};
    auto found = cache_.ListRawBy(context_, kind, query);
    const bool complete = !absl::IsDataLoss(found.status());
    // An instance that cannot be read does not hide another that references the template.
    if (!complete) found = cache_.ListLastKnownBy(kind, query);
    RETURN_IF_ERROR(found.status());
    Referenced referenced = complete ? Referenced::kNo : Referenced::kMaybe;
    for (const auto& raw : *found) {
      const auto instance = raw->Decode<ScopeInstance>();
      if (!instance.ok()) {
        referenced = Referenced::kMaybe;
      } else if (References(*instance, of_.metadata().name())) {
        return Referenced::kYes;
      }
    }
    return referenced;
  }

  // By name: the roles that the template asks for, that it owns, or that have its label.
  absl::StatusOr<std::map<std::string, ClusterRole>> ReadRoles() const {
    std::map<std::string, ClusterRole> roles;
    for (const std::string& name : RoleNames()) {
      auto role = cache_.Get<ClusterRole>(context_, {"", name});
      if (absl::IsNotFound(role.status())) continue;
      RETURN_IF_ERROR(role.status());
      roles[name] = *std::move(role);
    }
    for (const std::string_view index : {kByController, kByUidLabel}) {
      ASSIGN_OR_RETURN(const auto found, cache_.ListRawBy(context_, KindOf<ClusterRole>::value,
                                                          {index, of_.metadata().uid()}));
      for (const auto& raw : found) {
        std::string name(raw->name());
        if (roles.contains(name)) continue;
        ASSIGN_OR_RETURN(roles[name], raw->Decode<ClusterRole>());
      }
    }
    return roles;
  }

  std::set<std::string> RoleNames() const {
    std::set<std::string> names;
    for (const auto& role : of_.spec().clusterroles()) {
      names.insert(ClusterRoleName(of_.metadata().uid(), role.generatename()));
    }
    return names;
  }

  absl::StatusOr<std::vector<std::string>> ReadStanding(const RoleTemplate& role) const {
    std::vector<std::string> standing;
    ASSIGN_OR_RETURN(
        const auto in_namespaces,
        cache_.ListRawBy(context_, KindOf<RoleBinding>::value, {kByRoleRef, role.name}));
    for (const auto& raw : in_namespaces) {
      ASSIGN_OR_RETURN(RoleBinding binding, raw->Decode<RoleBinding>());
      RETURN_IF_ERROR(AddIfStanding(role, FromRoleBinding(std::move(binding)), standing));
    }
    ASSIGN_OR_RETURN(
        const auto in_cluster,
        cache_.ListRawBy(context_, KindOf<ClusterRoleBinding>::value, {kByRoleRef, role.name}));
    for (const auto& raw : in_cluster) {
      ASSIGN_OR_RETURN(const ClusterRoleBinding binding, raw->Decode<ClusterRoleBinding>());
      RETURN_IF_ERROR(AddIfStanding(role, FromClusterRoleBinding(binding), standing));
    }
    return standing;
  }

 private:
  absl::Status AddIfStanding(const RoleTemplate& role, const Binding& binding,
                             std::vector<std::string>& standing) const {
    ASSIGN_OR_RETURN(const bool wanted, IsWanted(role, binding));
    if (!wanted) standing.push_back(binding.ToString());
    return absl::OkStatus();
  }

  // Whether an instance of the template may want the binding as it is: it belongs to one that is
  // there, and grants the role to nobody else and nowhere else.
  absl::StatusOr<bool> IsWanted(const RoleTemplate& role, const Binding& binding) const {
    const OwnerReferenceProto* owner = ControllerOf(binding.object.metadata());
    if (owner == nullptr || owner->kind() != KindOf<ScopeInstance>::value.kind ||
        !HasNameOf(binding, owner->uid())) {
      return false;
    }
    const auto raw = cache_.GetRaw(context_, KindOf<ScopeInstance>::value, {"", owner->name()});
    if (absl::IsNotFound(raw.status())) return false;
    // One that cannot be read stops nobody else.
    if (absl::IsDataLoss(raw.status())) return true;
    RETURN_IF_ERROR(raw.status());
    const auto instance = (*raw)->Decode<ScopeInstance>();
    if (!instance.ok()) return (*raw)->uid() == owner->uid();
    return instance->metadata().uid() == owner->uid() &&
           References(*instance, of_.metadata().name()) && MayWant(*instance, role, binding);
  }

  const CallContext& context_;
  const CacheView& cache_;
  const ScopeTemplate& of_;
};

}  // namespace

absl::StatusOr<TemplateSnapshot> ReadTemplateSnapshot(const CallContext& context,
                                                      const CacheView& cache,
                                                      ScopeTemplate scope_template) {
  const Reader reader(context, cache, scope_template);
  TemplateSnapshot snapshot;
  ASSIGN_OR_RETURN(snapshot.referenced, reader.ReadReferenced());
  ASSIGN_OR_RETURN(auto roles, reader.ReadRoles());
  // An invalid template makes no role.
  const auto wanted = ExpandTemplate(scope_template);
  if (snapshot.referenced == Referenced::kYes && wanted.ok()) {
    for (const RoleTemplate& role : *wanted) {
      if (roles.contains(role.name)) continue;
      ASSIGN_OR_RETURN(snapshot.standing[role.name], reader.ReadStanding(role));
    }
  }
  for (auto& [name, role] : roles) snapshot.cluster_roles.push_back(std::move(role));
  snapshot.scope_template = std::move(scope_template);
  return snapshot;
}

}  // namespace mandate::scope
