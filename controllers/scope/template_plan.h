// What to do about one ScopeTemplate: a pure function of what is known.
#ifndef CONTROLLERS_SCOPE_TEMPLATE_PLAN_H_
#define CONTROLLERS_SCOPE_TEMPLATE_PLAN_H_

#include <string>
#include <vector>

#include "controllers/conditions.h"
#include "controllers/scope/kinds.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::scope {

inline constexpr char kTemplated[] = "Templated";
inline constexpr char kTemplatingSuccessful[] = "TemplatingSuccessful";
inline constexpr char kTemplatingFailed[] = "TemplatingFailed";

struct TemplateSnapshot {
  operatorsv1alpha1::ScopeTemplate scope_template;
  // Whether some ScopeInstance that is not being deleted references it.
  bool referenced = false;
  // At least those that belong to the template and those whose names it asks for.
  std::vector<rbacv1::ClusterRole> cluster_roles;
};

// An object to delete, and only if it is still that one.
struct Removal {
  ObjectKey key;
  std::string uid;

  bool operator==(const Removal&) const = default;
};

struct TemplatePlan {
  std::vector<rbacv1::ClusterRole> create;
  // To be applied; each has the UID of the role that it mends.
  std::vector<rbacv1::ClusterRole> mend;
  std::vector<Removal> remove;
  // Why the template cannot be fulfilled, whatever the writes come to.
  std::vector<std::string> problems;
};

TemplatePlan PlanTemplate(const TemplateSnapshot& snapshot);

// The template's conditions after the plan was carried out; `failures` are the writes' errors.
std::vector<DesiredCondition> TemplateConditions(const operatorsv1alpha1::ScopeTemplate& of,
                                                 const TemplatePlan& plan,
                                                 const std::vector<std::string>& failures);

// "a; b; c; and 4 more", for a condition's message.
std::string Summarise(const std::vector<std::string>& problems);

}  // namespace mandate::scope

#endif  // CONTROLLERS_SCOPE_TEMPLATE_PLAN_H_
