// The workloads W1 to W4 of the scoped cache: which owner demands what.
#pragma once

#include <string>
#include <vector>

#include "manager/cache/demand_table.h"

namespace mandate::bench {

struct OwnedDemands {
  DemandOwner owner;
  std::vector<SelectedDemand> demands;
};

// The names that the server gives its namespaces and objects.
std::string NamespaceAt(int i);
std::string ObjectAt(int i);

DemandOwner OwnerAt(int i);

// `size` owners and namespaces:
//   1  each owner demands the ConfigMaps and Secrets of a namespace of its own
//   2  all demand those of one namespace, each with a selector of its own, which is routed
//   3  each demands those of every namespace
//   4  each demands one Secret
std::vector<OwnedDemands> Workload(int which, int size);

// The distinct streams that it needs.
std::vector<DemandSpec> StreamsOf(const std::vector<OwnedDemands>& workload);

}  // namespace mandate::bench
