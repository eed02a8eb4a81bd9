// What to do about one ScopeInstance: a pure function of what is known.
#ifndef CONTROLLERS_SCOPE_INSTANCE_PLAN_H_
#define CONTROLLERS_SCOPE_INSTANCE_PLAN_H_

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "controllers/conditions.h"
#include "controllers/scope/binding.h"
#include "controllers/scope/effect.h"
#include "controllers/scope/kinds.h"
#include "controllers/scope/role_template.h"
#include "controllers/scope/template_plan.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::scope {

inline constexpr char kScoped[] = "Scoped";
inline constexpr char kScopingSuccessful[] = "ScopingSuccessful";
inline constexpr char kScopingFailed[] = "ScopingFailed";
inline constexpr char kScopingInProgress[] = "ScopingInProgress";
inline constexpr char kScopeTemplateNotFound[] = "ScopeTemplateNotFound";
inline constexpr char kScopeTemplateFailed[] = "ScopeTemplateFailed";
inline constexpr char kWaitingForClusterRoles[] = "WaitingForClusterRoles";
inline constexpr char kScopeInstanceTerminating[] = "ScopeInstanceTerminating";

inline constexpr char kEffective[] = "Effective";
inline constexpr char kRulesWithoutEffect[] = "RulesWithoutEffect";

struct InstanceSnapshot {
  operatorsv1alpha1::ScopeInstance instance;
  // Nullopt: absent, for certain.
  std::optional<operatorsv1alpha1::ScopeTemplate> scope_template;
  // Why the template cannot be read; of its metadata, only what is known is in `scope_template`.
  absl::Status unread_template;
  // At least those whose names the template asks for.
  std::map<std::string, rbacv1::ClusterRole> cluster_roles;
  // Why roles cannot be read: one that is not in `cluster_roles` may be there.
  absl::Status unread_roles;
  // At least those that the instance names or selects, as far as they exist.
  std::vector<corev1::Namespace> namespaces;
  // Why namespaces cannot be read: which exist, and which the selector matches, is not known.
  absl::Status unread_namespaces;
  // At least those that belong to the instance or to a former one of its name, and those that say
  // so by label, owner or name.
  std::vector<Binding> bindings;
};

// The roles that the template asks for; an error when it cannot be read. The template is there.
absl::StatusOr<TemplateRoles> RolesOf(const InstanceSnapshot& snapshot);

struct InstancePlanOptions {
  // How many bindings one instance may have: roles times namespaces. An instance that asks for more
  // gets no new ones; what it no longer wants is revoked.
  size_t max_bindings = 20'000;
  // And how many bytes the subjects of them all may have, when sent.
  size_t max_subject_bytes = 4 << 20;
};

// A binding to change.
struct BindingFix {
  Binding desired;
  Binding actual;

  bool revokes() const { return HasMoreSubjects(desired, actual); }
};

struct InstancePlan {
  std::vector<NewBinding> create;
  // Those that revoke come first.
  std::vector<BindingFix> fix;
  // To be deleted and created anew: their roleRef is another.
  std::vector<std::pair<Binding, Binding>> replace;
  std::vector<Binding> remove;
  // Whether what is granted takes the place of what is revoked: then it is granted first, so that
  // nobody is without in between. Otherwise what is no longer wanted goes first.
  bool grant_first = false;
  // Whether a binding is deleted only while it is as it was read. Garbage collection may have
  // orphaned the binding since then: then it stays.
  bool remove_unchanged = false;

  // Why Scoped is False whatever the writes come to; empty: it is not.
  std::string reason;
  std::vector<std::string> problems;
  // How many of the problems end when the template's controller has written its roles.
  size_t waits = 0;
  // Bindings that still grant, and that no write of ours ends.
  std::vector<std::string> pending;
  // The instance asks for more than max_bindings or max_subject_bytes.
  bool over_bound = false;
  // The roles that are bound in namespaces.
  std::vector<RoleTemplate> in_namespaces;
  // Theirs, for the condition Effective: not known until somebody asks the server.
  Effect effect;

  size_t writes() const { return create.size() + fix.size() + 2 * replace.size() + remove.size(); }
  bool revokes() const {
    return !remove.empty() || !replace.empty() || (!fix.empty() && fix.front().revokes());
  }
};

InstancePlan PlanInstance(const InstanceSnapshot& snapshot,
                          const InstancePlanOptions& options = {});

// The plan when no instance is called `name`: revokes those of `bindings` that were made for one.
InstancePlan PlanAbsentInstance(std::string_view name, std::vector<Binding> bindings);

// The part of the plan that is sent while the rest waits: the revocations of bindings that are
// quick to write. It grants nothing: a binding that is to be changed only loses subjects.
InstancePlan EarlyPart(const InstancePlan& plan,
                       absl::FunctionRef<bool(const ObjectKey&)> is_quick);

// Of each list, the revocations that are quick come before those that are not.
void QuickFirst(absl::FunctionRef<bool(const ObjectKey&)> is_quick, InstancePlan& plan);

// The instance's conditions after the plan was carried out; `failures` are the writes' errors.
// `unfinished`: writes of the plan are left for the next time.
std::vector<DesiredCondition> InstanceConditions(const operatorsv1alpha1::ScopeInstance& of,
                                                 const InstancePlan& plan,
                                                 const std::vector<std::string>& failures,
                                                 bool unfinished = false);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_INSTANCE_PLAN_H_
