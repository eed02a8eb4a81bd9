#include "controllers/scope/binding_differ.h"

#include <string>
#include <utility>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/ownership.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

bool IsBeingDeleted(const Binding& binding) {
  return binding.object.metadata().has_deletiontimestamp();
}

bool IsControlledBy(const Binding& binding, std::string_view uid) {
  const OwnerReferenceProto* controller = ControllerOf(binding.object.metadata());
  return controller != nullptr && controller->uid() == uid &&
         IsOfKind(*controller, KindOf<operatorsv1alpha1::ScopeInstance>::value);
}

// The names of the roles that the template requests.
std::set<std::string> RoleNames(const InstanceSnapshot& snapshot) {
  std::set<std::string> names;
  if (!snapshot.scope_template.has_value()) return names;
  for (const auto& role : snapshot.scope_template->spec().clusterroles()) {
    names.insert(ClusterRoleName(snapshot.scope_template->metadata().uid(), role.generatename()));
  }
  return names;
}

}  // namespace

BindingDiffer::BindingDiffer(const InstanceSnapshot& snapshot, InstancePlan& plan)
    : snapshot_(snapshot), plan_(plan) {
  const auto& meta = snapshot.instance.metadata();
  const std::set<std::string> roles = RoleNames(snapshot);
  for (const Binding& binding : snapshot.bindings) {
    if (BelongsToInstance(binding, meta.uid())) {
      actual_[binding.key] = &binding;
    } else if (BelongsToFormer(binding, meta.name(), meta.uid())) {
      // Garbage collection would delete it, too, but later.
      Revoke(binding);
    } else if (IsControlledBy(binding, meta.uid())) {
      plan.pending.push_back(
          StrCat(GrantText(binding),
                 ", has this ScopeInstance as its controller, but its name is not "
                 "computed from the ScopeInstance's UID: it is neither changed nor deleted; "
                 "delete it by hand"));
    } else if (HasNameOf(binding, meta.uid()) ||
               (Claims(binding, meta.uid()) && roles.contains(binding.object.roleref().name()))) {
      taken_.insert(binding.key);
      plan.pending.push_back(StrCat(
          GrantText(binding),
          ". It has the name or the label of a binding of this ScopeInstance, but its "
          "controller is ",
          ControllerText(binding.object.metadata()),
          ", so scope-instance does not change or delete it. If it is not needed, delete it"));
    }
  }
}

void BindingDiffer::Want(const RoleTemplate& role, std::string_view ns, bool may_grant) {
  const NewBinding wanted{DesiredKey(snapshot_.instance, role, ns), Everywhere(role)};
  wanted_.insert(wanted.key);
  const auto found = actual_.find(wanted.key);
  if (found == actual_.end()) {
    if (may_grant && !taken_.contains(wanted.key)) plan_.create.push_back(wanted);
    return;
  }
  Binding desired = wanted.Make();
  const Binding& actual = *found->second;
  if (!SameRoleRef(desired, actual)) {
    // The binding grants an unwanted role: it is deleted even if its replacement must wait.
    if (may_grant && !IsBeingDeleted(actual) && actual.object.metadata().finalizers().empty()) {
      plan_.replace.emplace_back(actual, std::move(desired));
    } else {
      Revoke(actual);
    }
    return;
  }
  if (IsBeingDeleted(actual)) {
    plan_.pending.push_back(StrCat(
        GrantText(actual), ", and is being deleted: ", FinalizersText(actual.object.metadata()),
        "; it is created again afterwards"));
    may_grant = false;
  }
  if (may_grant) {
    if (!Difference(desired, actual).empty()) plan_.fix.push_back({std::move(desired), actual});
  } else {
    const bool revokes = HasMoreSubjects(desired, actual);
    Binding fewer = WithoutNewSubjects(std::move(desired), actual);
    // An edit that grants nothing is reverted, too.
    if (revokes || (!IsBeingDeleted(actual) && !Difference(fewer, actual).empty())) {
      plan_.fix.push_back({std::move(fewer), actual});
    }
  }
}

void BindingDiffer::RevokeUnwantedExcept(const std::function<bool(const Binding&)>& keep) {
  for (const auto& [key, binding] : actual_) {
    if (!wanted_.contains(key) && !keep(*binding)) Revoke(*binding);
  }
}

void BindingDiffer::RevokeUnwanted() {
  RevokeUnwantedExcept([](const Binding&) { return false; });
}

const std::shared_ptr<const rbacv1::RoleBinding>& BindingDiffer::Everywhere(
    const RoleTemplate& role) {
  auto& common = everywhere_[role.name];
  if (common == nullptr) common = DesiredEverywhere(snapshot_.instance, role);
  return common;
}

void BindingDiffer::Revoke(const Binding& actual) {
  if (MayBeOrphaned(actual.object.metadata(), snapshot_.instance.metadata())) {
    plan_.pending.push_back(OrphanText(GrantText(actual)));
    return;
  }
  const bool held = !actual.object.metadata().finalizers().empty();
  if (!IsBeingDeleted(actual)) plan_.remove.push_back(actual);
  if (!IsBeingDeleted(actual) && !held) return;
  plan_.pending.push_back(StrCat(GrantText(actual), ", is no longer wanted, and is being deleted: ",
                                 FinalizersText(actual.object.metadata())));
  // Finalizers keep the object, but not its grants.
  const bool grants = IsBeingDeleted(actual) && !actual.object.subjects().empty();
  if (grants) plan_.fix.push_back({WithoutSubjects(actual), actual});
}

}  // namespace mandate::scope
