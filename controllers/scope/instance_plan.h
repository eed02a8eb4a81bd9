// The plan for one ScopeInstance: a pure function of a snapshot.
#pragma once

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
  // Nullopt if it is certainly absent.
  std::optional<operatorsv1alpha1::ScopeTemplate> scope_template;
  // The error of reading the template. `scope_template` then has only the known metadata.
  absl::Status template_read_error;
  // At least the roles whose names the template requests.
  std::map<std::string, rbacv1::ClusterRole> cluster_roles;
  // The error of reading roles. A role that `cluster_roles` lacks may then exist.
  absl::Status roles_read_error;
  // At least the existing ones that the instance names or selects.
  std::vector<corev1::Namespace> namespaces;
  // The error of reading namespaces. The existing and the selected ones are then unknown.
  absl::Status namespaces_read_error;
  // At least the bindings of the instance and of former instances of its name, and those whose
  // label, owner or name claims this.
  std::vector<Binding> bindings;
  // The error of reading RoleBindings or ClusterRoleBindings. `bindings` then has only those of the
  // other kind, and nothing is granted.
  absl::Status bindings_read_error;
};

// The roles that the template requests, or the error of reading the template, which must exist.
absl::StatusOr<TemplateRoles> RolesOf(const InstanceSnapshot& snapshot);

struct InstancePlanOptions {
  // The maximum number of bindings of one instance: roles times namespaces. An instance that
  // requests more gets no new bindings; unwanted ones are revoked.
  size_t max_bindings = 20'000;
  // The maximum total size of their subjects in bytes, as sent.
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
  // The revoking ones come first.
  std::vector<BindingFix> fix;
  // Bindings with another roleRef, which are deleted and created again.
  std::vector<std::pair<Binding, Binding>> replace;
  std::vector<Binding> remove;
  // Whether the new grants replace the revoked ones. Then they are written first, so that no
  // subject loses access in between. Otherwise revocations are written first.
  bool grant_first = false;
  // Whether a deletion has the binding's version as precondition. Garbage collection may have
  // orphaned the binding since it was read, and then it must stay.
  bool remove_unchanged = false;

  // The reasons for which Scoped is False independently of the writes.
  std::string reason;
  std::vector<std::string> problems;
  // The number of problems that end when the template's controller has written its roles.
  size_t waiting_problems = 0;
  // Bindings that still grant and that no write of ours can end.
  std::vector<std::string> pending;
  // Whether the instance requests more than max_bindings or max_subject_bytes.
  bool exceeds_limit = false;
  // The roles that are bound in namespaces.
  std::vector<RoleTemplate> in_namespaces;
  // The scopes of their resources, for the condition Effective. The reconciler asks the server.
  Effect effect;

  size_t writes() const { return create.size() + fix.size() + 2 * replace.size() + remove.size(); }
  bool revokes() const {
    return !remove.empty() || !replace.empty() || (!fix.empty() && fix.front().revokes());
  }
};

InstancePlan PlanInstance(const InstanceSnapshot& snapshot,
                          const InstancePlanOptions& options = {});

// The plan if no instance is called `name`: revokes the `bindings` that were made for such an
// instance.
InstancePlan PlanAbsentInstance(std::string_view name, std::vector<Binding> bindings);

// The part of the plan that does not wait: the revocations of bindings whose writes are quick. It
// grants nothing; a changed binding only loses subjects.
InstancePlan RevocationsBeforeTurn(const InstancePlan& plan,
                                   absl::FunctionRef<bool(const ObjectKey&)> is_quick);

// Sorts each list: quick revocations come before slow ones.
void QuickFirst(absl::FunctionRef<bool(const ObjectKey&)> is_quick, InstancePlan& plan);

// The instance's conditions after the writes of the plan; `failures` are their errors.
// `unfinished`: the next reconcile does the rest of the writes.
std::vector<DesiredCondition> InstanceConditions(const operatorsv1alpha1::ScopeInstance& of,
                                                 const InstancePlan& plan,
                                                 const std::vector<std::string>& failures,
                                                 bool unfinished = false);

}  // namespace mandate::scope
