// A generated policy, with everything that RBAC can say and the API server admits.
#ifndef TESTING_RBAC_FIDELITY_WORLD_H_
#define TESTING_RBAC_FIDELITY_WORLD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "manager/rbac/policy.h"

namespace mandate::fidelity {

// One of the server's own, put together by aggregation: generated bindings refer to it.
inline constexpr char kAggregatedRole[] = "view";
// What the name of a role that a controller puts together from generated ones ends with.
inline constexpr char kAggregateSuffix[] = "-aggregate";

// What rules, bindings and questions are made of.
struct Vocabulary {
  std::vector<std::string> namespaces;
  std::vector<std::string> users;  // one is named like a ServiceAccount
  std::vector<std::string> groups;
  std::vector<std::string> service_accounts;  // names; in each namespace
  std::vector<std::string> verbs;
  std::vector<std::string> api_groups;
  std::vector<std::string> resources;
  std::vector<std::string> subresources;
  std::vector<std::string> names;
  std::vector<std::string> paths;
  std::vector<std::string> bindable;  // ClusterRoles that some users may bind, held or not
  std::string granters;  // a group that may create RBAC objects, as far as that alone goes
};

struct World {
  Vocabulary words;
  rbac::Policy policy;
  // A ClusterRole that selects others and gets their rules from kube-controller-manager. Bindings
  // refer to it; the policy does not hold it.
  std::string aggregate;
  std::vector<std::string> aggregate_parts;

  // The rules that it gets.
  std::vector<rbac::Rule> AggregateRules() const;
};

// The same seed gives the same world. Names hold the seed, so that several worlds fit into one
// cluster.
World MakeWorld(uint64_t seed);

}  // namespace mandate::fidelity

#endif  // TESTING_RBAC_FIDELITY_WORLD_H_
