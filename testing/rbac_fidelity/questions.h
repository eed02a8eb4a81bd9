// Questions to both authorizers: whether a user may send a request, or grant rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "manager/rbac/authorizer.h"
#include "manager/rbac/rule.h"
#include "manager/rbac/user.h"
#include "testing/rbac_fidelity/dice.h"
#include "testing/rbac_fidelity/world.h"

namespace mandate::fidelity {

struct Question {
  rbac::UserInfo user;
  rbac::Attributes request;
  // Sent with the question; RBAC must ignore it.
  std::string field_selector;

  std::string ToString() const;
};

// An attempt to create a role or, if `role_ref` has a name, a binding.
struct GrantAttempt {
  rbac::UserInfo user;
  std::string ns;  // empty: a ClusterRole or ClusterRoleBinding
  std::vector<rbac::Rule> rules;
  rbac::RoleRef role_ref;

  bool is_binding() const { return !role_ref.name.empty(); }
  std::string ToString() const;
};

// An endless, seeded sequence. Most questions start from a rule that a binding grants, so that many
// requests are allowed. Many of these are then changed in one respect, so that they are just inside
// or outside the rule. Borrows the world.
class Questions {
 public:
  Questions(const World& world, uint64_t seed)
      : world_(world), aggregate_rules_(world.AggregateRules()), dice_(~seed) {}

  Question Next();
  // An attempt of a user, who may write RBAC objects, to grant permissions.
  GrantAttempt NextGrant();

 private:
  struct Binding {
    const rbac::RoleRef& role_ref;
    const rbac::Subject& subject;
    std::string ns;
  };
  Binding PickBinding();
  const std::vector<rbac::Rule>& RulesOf(const Binding& binding) const;
  rbac::UserInfo UserOf(const Binding& binding);
  rbac::UserInfo AnyUser();
  rbac::Attributes AnyRequest();
  rbac::Attributes Matching(const rbac::Rule& rule, const std::string& ns);
  void Change(Question& question);
  void Change(rbac::Rule& rule);

  const World& world_;
  const std::vector<rbac::Rule> aggregate_rules_;
  Dice dice_;
};

// The names of all features, in the order in which they are reported.
const std::vector<std::string_view>& AllFeatures();

// The features that the question exercises with this policy.
std::vector<std::string_view> FeaturesOf(const rbac::Authorizer& authorizer,
                                         const Question& question);

}  // namespace mandate::fidelity
