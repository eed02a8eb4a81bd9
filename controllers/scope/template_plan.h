// What to do about one ScopeTemplate: a pure function of what is known.
#ifndef CONTROLLERS_SCOPE_TEMPLATE_PLAN_H_
#define CONTROLLERS_SCOPE_TEMPLATE_PLAN_H_

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
// Of Templated and of Scoped: something that is no longer wanted still grants.
inline constexpr char kRevocationPending[] = "RevocationPending";

// Whether some ScopeInstance that is not being deleted references the template.
enum class Referenced {
  kNo,
  kMaybe,  // an instance cannot be read: roles are kept and fixed, not made and not deleted
  kYes,
};

// The bindings that would grant too much if their role were made, or got more rules.
struct Standing {
  // Bindings that refer to the role and that no ScopeInstance of the template wants as they are, as
  // "RoleBinding foo/x".
  std::vector<std::string> bindings = {};
  // Why they cannot be read: then there may be some.
  absl::Status unread = {};

  bool none() const { return bindings.empty() && unread.ok(); }
};

struct TemplateSnapshot {
  operatorsv1alpha1::ScopeTemplate scope_template;
  Referenced referenced = Referenced::kNo;
  // At least those that belong to the template and those whose names it asks for.
  std::vector<rbacv1::ClusterRole> cluster_roles;
  // By the name of a ClusterRole that is absent, or lacks a rule. For a role that is there,
  // only ScopeInstances' bindings count: others chose to bind it, whatever its rules become.
  std::map<std::string, Standing> standing = {};
  // Why no ScopeInstance can be read: `referenced` is kMaybe then.
  absl::Status unread_instances = {};
};

// A role to change: the difference says why.
struct RoleFix {
  rbacv1::ClusterRole desired;
  rbacv1::ClusterRole actual;

  bool revokes() const { return GrantsMore(actual, desired); }
};

struct TemplatePlan {
  std::vector<rbacv1::ClusterRole> create;
  // Those that revoke come first.
  std::vector<RoleFix> fix;
  std::vector<rbacv1::ClusterRole> remove;
  // Whether a role is deleted only while it is as it was read. Garbage collection may have orphaned
  // the role since then: then it stays.
  bool remove_unchanged = false;
  // Why the template cannot be fulfilled, whatever the writes come to.
  std::vector<std::string> problems;
  // What is no longer wanted and still grants, and what waits for that.
  std::vector<std::string> pending;

  size_t writes() const { return create.size() + fix.size() + remove.size(); }
  bool revokes() const { return !remove.empty() || (!fix.empty() && fix.front().revokes()); }
};

TemplatePlan PlanTemplate(const TemplateSnapshot& snapshot);

// The part of the plan that is sent while the rest waits: the revocations of roles that are quick
// to write. A role that is to be changed only loses rules.
TemplatePlan EarlyPart(const TemplatePlan& plan,
                       absl::FunctionRef<bool(const ObjectKey&)> is_quick);

// The template's conditions after the plan was carried out; `failures` are the errors of creating
// and fixing, `removal_failures` those of deleting. `unfinished`: writes of the plan are left for
// the next time.
std::vector<DesiredCondition> TemplateConditions(const operatorsv1alpha1::ScopeTemplate& of,
                                                 const TemplatePlan& plan,
                                                 const std::vector<std::string>& failures,
                                                 const std::vector<std::string>& removal_failures,
                                                 bool unfinished = false);

// "a; b; c; and 4 more", for a condition's message.
std::string Summarise(const std::vector<std::string>& problems);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_TEMPLATE_PLAN_H_
