// What to do about one ScopeInstance: a pure function of what is known.
#ifndef CONTROLLERS_SCOPE_INSTANCE_PLAN_H_
#define CONTROLLERS_SCOPE_INSTANCE_PLAN_H_

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "controllers/conditions.h"
#include "controllers/scope/binding.h"
#include "controllers/scope/kinds.h"
#include "controllers/scope/template_plan.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::scope {

inline constexpr char kScoped[] = "Scoped";
inline constexpr char kScopingSuccessful[] = "ScopingSuccessful";
inline constexpr char kScopingFailed[] = "ScopingFailed";
inline constexpr char kScopeTemplateNotFound[] = "ScopeTemplateNotFound";
inline constexpr char kScopeTemplateFailed[] = "ScopeTemplateFailed";
inline constexpr char kWaitingForClusterRoles[] = "WaitingForClusterRoles";

inline constexpr char kEffective[] = "Effective";
inline constexpr char kRulesWithoutEffect[] = "RulesWithoutEffect";

// Whether a resource is namespaced or cluster-scoped. kNotFound: it is not served; any other error:
// that is not known now.
using ScopeOfResource =
    std::function<absl::StatusOr<Scope>(std::string_view group, std::string_view resource)>;

struct InstanceSnapshot {
  operatorsv1alpha1::ScopeInstance instance;
  // Nullopt: absent, for certain.
  std::optional<operatorsv1alpha1::ScopeTemplate> scope_template;
  // At least those whose names the template asks for.
  std::map<std::string, rbacv1::ClusterRole> cluster_roles;
  // Every namespace.
  std::vector<corev1::Namespace> namespaces;
  // At least those that belong to the instance, or to a former one of its name.
  std::vector<Binding> bindings;
  ScopeOfResource scope_of_resource;  // may be empty: nothing is served
};

struct InstancePlan {
  std::vector<Binding> create;
  // To be applied; each has the UID of the binding that it mends.
  std::vector<Binding> mend;
  // To be deleted and created anew: their roleRef is another.
  std::vector<std::pair<Binding, Binding>> replace;
  std::vector<Binding> remove;
  // Whether what is granted takes the place of what is revoked: then it is granted first, so that
  // nobody is without in between. Otherwise what is no longer wanted goes first.
  bool grant_first = false;

  // Why Scoped is False whatever the writes come to; empty: it is not.
  std::string reason;
  std::vector<std::string> problems;
  // Of Effective; empty: every rule means something where it is bound.
  std::string without_effect;
  // Some resource's scope is not known now: what Effective says stays as it is.
  bool effect_unknown = false;
};

InstancePlan PlanInstance(const InstanceSnapshot& snapshot);

// The instance's conditions after the plan was carried out; `failures` are the writes' errors.
std::vector<DesiredCondition> InstanceConditions(const operatorsv1alpha1::ScopeInstance& of,
                                                 const InstancePlan& plan,
                                                 const std::vector<std::string>& failures);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_INSTANCE_PLAN_H_
