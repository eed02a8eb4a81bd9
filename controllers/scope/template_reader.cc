#include "controllers/scope/template_reader.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/scope/binding.h"
#include "controllers/scope/cluster_role.h"
#include "controllers/scope/generated_names.h"
#include "controllers/scope/indexes.h"
#include "controllers/scope/ownership.h"
#include "controllers/scope/role_template.h"
#include "controllers/scope/target.h"
#include "controllers/scope/unread.h"
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

// A ScopeInstance that owns a binding, and its wanted bindings.
struct Owner {
  std::optional<ScopeInstance> instance;  // nullopt if it cannot be read
  std::string uid = {};
  Target target = {};
  bool selects = false;  // whether it has a selector; the selected namespaces are unknown here

  // Whether it may want bindings in `ns`, or in the cluster if `ns` is empty.
  bool MayTarget(const std::string& ns) const {
    return (selects && !ns.empty()) || target.MayContain(ns);
  }
  // Whether it may want the binding to grant the role.
  bool MayWant(const RoleTemplate& role, const Binding& binding) const {
    const Binding desired = DesiredBinding(*instance, role, binding.key.ns);
    return desired.key == binding.key && MayTarget(binding.key.ns) &&
           !HasMoreSubjects(desired, binding);
  }
};

class Reader {
 public:
  Reader(const CallContext& context, const CacheView& cache, const ScopeTemplate& of)
      : context_(context), cache_(cache), of_(of) {}

  // `unread` is the error of reading instances.
  absl::StatusOr<Referenced> ReadReferenced(absl::Status& unread) const {
    const KindInfo kind = KindOf<ScopeInstance>::value;
    const IndexQuery query{kByTemplate, of_.metadata().name()};
    auto found = cache_.ListRawByIndex(context_, kind, query);
    if (IsReadUnavailable(found.status())) {
      unread = found.status();
      return Referenced::kMaybe;
    }
    RETURN_IF_ERROR(found.status());
    Referenced referenced = Referenced::kNo;
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

  // By name: the roles that the template requests or owns, and those with its label.
  absl::StatusOr<std::map<std::string, ClusterRole>> ReadRoles() const {
    std::map<std::string, ClusterRole> roles;
    for (const std::string& name : RoleNames()) {
      auto role = cache_.Get<ClusterRole>(context_, {"", name});
      if (absl::IsNotFound(role.status())) continue;
      RETURN_IF_ERROR(role.status());
      roles[name] = *std::move(role);
    }
    for (const std::string_view index : {kByController, kByUidLabel}) {
      ASSIGN_OR_RETURN(const auto found, cache_.ListRawByIndex(context_, KindOf<ClusterRole>::value,
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

  // `present`: whether the role exists.
  BlockingBindings ReadBlockingBindings(const RoleTemplate& role, bool present) {
    BlockingBindings blocking_bindings;
    blocking_bindings.read_error =
        AddBlockingBindings<RoleBinding>(role, present, blocking_bindings.bindings);
    if (blocking_bindings.read_error.ok()) {
      blocking_bindings.read_error =
          AddBlockingBindings<ClusterRoleBinding>(role, present, blocking_bindings.bindings);
    }
    return blocking_bindings;
  }

 private:
  template <class T>
  absl::Status AddBlockingBindings(const RoleTemplate& role, bool present,
                                   std::vector<std::string>& blocking_bindings) {
    ASSIGN_OR_RETURN(const auto found,
                     cache_.ListRawByIndex(context_, KindOf<T>::value, {kByRoleRef, role.name}));
    for (const auto& raw : found) {
      ASSIGN_OR_RETURN(T object, raw->template Decode<T>());
      const Binding binding = ToBinding(std::move(object));
      if (binding.object.subjects().empty()) continue;  // it grants nothing
      if (present && !BelongsToSomeInstance(binding)) continue;
      ASSIGN_OR_RETURN(const bool wanted, IsWanted(role, binding));
      if (!wanted) blocking_bindings.push_back(binding.ToString());
    }
    return absl::OkStatus();
  }

  // Whether an instance of the template may want the binding in its current state: the instance
  // exists, and the binding has only the wanted subjects and namespace.
  absl::StatusOr<bool> IsWanted(const RoleTemplate& role, const Binding& binding) {
    const OwnerReferenceProto* reference = ControllerOf(binding.object.metadata());
    if (reference == nullptr || reference->kind() != KindOf<ScopeInstance>::value.kind ||
        !HasNameOf(binding, reference->uid())) {
      return false;
    }
    ASSIGN_OR_RETURN(const Owner* owner, OwnerCalled(reference->name()));
    if (owner == nullptr) return false;
    // An unreadable instance does not affect the others.
    if (!owner->instance.has_value()) return owner->uid == reference->uid();
    return owner->uid == reference->uid() && References(*owner->instance, of_.metadata().name()) &&
           owner->MayWant(role, binding);
  }

  // Returns the instance of this name, or null. Each instance is decoded once, as it may have
  // thousands of bindings.
  absl::StatusOr<const Owner*> OwnerCalled(const std::string& name) {
    const auto known = owners_.find(name);
    if (known != owners_.end()) return known->second.get();
    const auto raw = cache_.GetRaw(context_, KindOf<ScopeInstance>::value, {"", name});
    if (absl::IsNotFound(raw.status())) return owners_.emplace(name, nullptr).first->second.get();
    RETURN_IF_ERROR(raw.status());
    auto owner = std::make_unique<Owner>();
    owner->uid = (*raw)->uid();
    if (auto instance = (*raw)->Decode<ScopeInstance>(); instance.ok()) {
      const auto selector = NamespaceSelector(*instance);
      owner->selects = !selector.ok() || selector->has_value();
      owner->target = ResolveTarget(*instance, {});
      owner->instance = *std::move(instance);
    }
    return owners_.emplace(name, std::move(owner)).first->second.get();
  }

  const CallContext& context_;
  const CacheView& cache_;
  const ScopeTemplate& of_;
  std::map<std::string, std::unique_ptr<const Owner>> owners_;  // the owners of bindings, by name
};

}  // namespace

absl::StatusOr<TemplateSnapshot> ReadTemplateSnapshot(const CallContext& context,
                                                      const CacheView& cache,
                                                      ScopeTemplate scope_template) {
  Reader reader(context, cache, scope_template);
  TemplateSnapshot snapshot;
  ASSIGN_OR_RETURN(snapshot.referenced, reader.ReadReferenced(snapshot.instances_read_error));
  ASSIGN_OR_RETURN(auto roles, reader.ReadRoles());
  // An invalid template creates no role and adds no rule.
  const TemplateRoles wanted = ExpandTemplate(scope_template);
  if (snapshot.referenced != Referenced::kNo && wanted.invalid.ok()) {
    for (const RoleTemplate& role : wanted.roles) {
      const auto is = roles.find(role.name);
      const bool present = is != roles.end();
      if (present && !HasNewRules(DesiredClusterRole(scope_template, role), is->second)) continue;
      if (!present && snapshot.referenced == Referenced::kMaybe) continue;  // it is not created
      snapshot.blocking_bindings[role.name] = reader.ReadBlockingBindings(role, present);
    }
  }
  for (auto& [name, role] : roles) snapshot.cluster_roles.push_back(std::move(role));
  snapshot.scope_template = std::move(scope_template);
  return snapshot;
}

}  // namespace mandate::scope
