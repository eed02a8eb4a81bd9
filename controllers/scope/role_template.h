// A ScopeTemplate's cluster roles, validated and with their defaults.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "controllers/scope/kinds.h"
#include "k8s.io/api/rbac/v1/generated.pb.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate::scope {

using SubjectList = google::protobuf::RepeatedPtrField<rbacv1::Subject>;

// One cluster role of a template, with its subjects.
struct RoleTemplate {
  std::string generate_name;
  std::string name;  // of the ClusterRole
  std::vector<rbacv1::PolicyRule> rules;
  // Unique, with apiGroup set. Roles that use the template's subjects share them.
  std::shared_ptr<const SubjectList> subjects;
};

struct TemplateRoles {
  // In the template's order, with unique names.
  std::vector<RoleTemplate> roles;
  // kInvalidArgument lists all errors in the form "spec.clusterRoles[0].subjects[1].namespace:
  // required for a ServiceAccount". `roles` then has only the valid rules and subjects of roles
  // with valid names. Existing grants of these are kept, and nothing new is granted.
  absl::Status invalid;
};

// The maximum of the subjects of all roles together, encoded: each place in which an instance binds
// the template stores so much, in the API server and in every cache. A subject that roles share
// counts for each role. More is an error of the template.
inline constexpr size_t kMaxSubjectBytes = size_t{256} << 10;

// In time and memory that are linear in the template, but for the sorting of subjects.
TemplateRoles ExpandTemplate(const operatorsv1alpha1::ScopeTemplate& scope_template);

bool SameRule(const rbacv1::PolicyRule& a, const rbacv1::PolicyRule& b);
// Of two lists, with the same order.
bool SameRules(const auto& a, const auto& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), SameRule);
}
bool SameSubjects(const SubjectList& a, const SubjectList& b);

// Orders subjects by all their fields.
struct SubjectLess {
  bool operator()(const rbacv1::Subject* a, const rbacv1::Subject* b) const;
};

// A set of subjects that finds one quickly. Borrows the subjects. Not thread-safe.
class SubjectSet {
 public:
  SubjectSet() = default;
  explicit SubjectSet(const SubjectList& subjects);
  // False if the set already has it.
  bool Add(const rbacv1::Subject& subject) { return known_.insert(&subject).second; }
  bool Contains(const rbacv1::Subject& subject) const { return known_.contains(&subject); }

 private:
  std::set<const rbacv1::Subject*, SubjectLess> known_;
};

}  // namespace mandate::scope
