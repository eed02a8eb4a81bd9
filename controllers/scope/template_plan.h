// The plan for one ScopeTemplate: a pure function of a snapshot.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "controllers/conditions.h"
#include "controllers/scope/cluster_role.h"
#include "controllers/scope/kinds.h"
#include "manager/object/kind.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::scope {

inline constexpr char kTemplated[] = "Templated";
inline constexpr char kTemplatingSuccessful[] = "TemplatingSuccessful";
inline constexpr char kTemplatingFailed[] = "TemplatingFailed";
inline constexpr char kTemplatingInProgress[] = "TemplatingInProgress";
// A reason of Templated and of Scoped: an unwanted object still grants.
inline constexpr char kRevocationPending[] = "RevocationPending";

// Whether some ScopeInstance that is not being deleted references the template.
enum class Referenced {
  kNo,
  kMaybe,  // an instance cannot be read: roles are fixed, but not created or deleted
  kYes,
};

// The bindings that would grant too much if their role were created or got more rules.
struct BlockingBindings {
  // Bindings of the role that no ScopeInstance of the template wants in their current state, as
  // "RoleBinding foo/x".
  std::vector<std::string> bindings = {};
  // The error of reading them. Then such bindings may exist.
  absl::Status read_error = {};

  bool none() const { return bindings.empty() && read_error.ok(); }
};

struct TemplateSnapshot {
  operatorsv1alpha1::ScopeTemplate scope_template;
  Referenced referenced = Referenced::kNo;
  // At least the roles of the template and those whose names it requests.
  std::vector<rbacv1::ClusterRole> cluster_roles;
  // The bindings of each ClusterRole that is absent or lacks a rule. For an existing role only the
  // bindings of ScopeInstances count: the authors of others chose the role with all its later
  // rules.
  std::map<std::string, BlockingBindings> blocking_bindings = {};
  // The error of reading ScopeInstances. `referenced` is then kMaybe.
  absl::Status instances_read_error = {};
};

// A role to change, with the difference as the reason.
struct RoleFix {
  rbacv1::ClusterRole desired;
  rbacv1::ClusterRole actual;

  bool revokes() const { return GrantsMore(actual, desired); }
};

struct TemplatePlan {
  std::vector<rbacv1::ClusterRole> create;
  // The revoking ones come first.
  std::vector<RoleFix> fix;
  std::vector<rbacv1::ClusterRole> remove;
  // Whether a deletion has the role's version as precondition. Garbage collection may have orphaned
  // the role since it was read, and then it must stay.
  bool remove_unchanged = false;
  // The reasons for which Templated is False independently of the writes.
  std::vector<std::string> problems;
  // Unwanted objects that still grant, and the roles that wait for their end.
  std::vector<std::string> pending;

  size_t writes() const { return create.size() + fix.size() + remove.size(); }
  bool revokes() const { return !remove.empty() || (!fix.empty() && fix.front().revokes()); }
};

TemplatePlan PlanTemplate(const TemplateSnapshot& snapshot);

// The part of the plan that does not wait: the revocations of roles whose writes are quick. A
// changed role only loses rules.
TemplatePlan RevocationsBeforeTurn(const TemplatePlan& plan,
                                   absl::FunctionRef<bool(const ObjectKey&)> is_quick);

// The template's conditions after the writes of the plan; `failures` are the errors of creating and
// fixing, `removal_failures` those of deleting. `unfinished`: the next reconcile does the rest.
std::vector<DesiredCondition> TemplateConditions(const operatorsv1alpha1::ScopeTemplate& of,
                                                 const TemplatePlan& plan,
                                                 const std::vector<std::string>& failures,
                                                 const std::vector<std::string>& removal_failures,
                                                 bool unfinished = false);

}  // namespace mandate::scope
