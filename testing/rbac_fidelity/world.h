// A generated policy that uses every feature of RBAC that the API server admits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manager/rbac/policy.h"

namespace mandate::fidelity {

// An aggregated role of the server, to which generated bindings refer.
inline constexpr char kAggregatedRole[] = "view";
// The suffix of the name of a role that a controller aggregates from generated roles.
inline constexpr char kAggregateSuffix[] = "-aggregate";

// The words from which rules, bindings and questions are made.
struct Vocabulary {
  std::vector<std::string> namespaces;
  std::vector<std::string> users;  // one is named like a ServiceAccount
  std::vector<std::string> groups;
  std::vector<std::string> service_accounts;  // names; they exist in each namespace
  std::vector<std::string> verbs;
  std::vector<std::string> api_groups;
  std::vector<std::string> resources;
  std::vector<std::string> subresources;
  std::vector<std::string> names;
  std::vector<std::string> paths;
  std::vector<std::string>
      bindable;          // ClusterRoles that some users may bind, with or without their rules
  std::string granters;  // a group that may create RBAC objects within its members' permissions
};

struct World {
  Vocabulary words;
  rbac::Policy policy;
  // The name of a ClusterRole that selects others and gets their rules from
  // kube-controller-manager. Bindings refer to it, but the policy does not contain it.
  std::string aggregate;
  std::vector<std::string> aggregate_parts;

  // The rules that the aggregate gets.
  std::vector<rbac::Rule> AggregateRules() const;
};

// The same seed gives the same world. Names contain the seed, so that several worlds can exist in
// one cluster.
World MakeWorld(uint64_t seed);

}  // namespace mandate::fidelity
