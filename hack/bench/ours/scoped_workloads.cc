#include "hack/bench/ours/scoped_workloads.h"

#include <cstdio>

#include "absl/container/flat_hash_set.h"
#include "hack/bench/ours/rig.h"
#include "manager/core/strings.h"

namespace mandate::bench {
namespace {

std::string Numbered(const char* format, int i) {
  char name[32];
  std::snprintf(name, sizeof(name), format, i);
  return name;
}

std::vector<SelectedDemand> BothKinds(const std::string& ns, const LabelSelector& selector = {}) {
  // Selected on the server, each selector would be a watch.
  constexpr SelectorMode kRoute = SelectorMode::kRoute;
  return {{{kConfigMaps, ns, ""}, selector, kRoute}, {{kSecrets, ns, ""}, selector, kRoute}};
}

}  // namespace

std::string NamespaceAt(int i) { return Numbered("n-%04d", i); }
std::string ObjectAt(int i) { return Numbered("object-%06d", i); }

DemandOwner OwnerAt(int i) { return {{NamespaceAt(i), StrCat("owner-", i)}, StrCat("uid-", i)}; }

std::vector<OwnedDemands> Workload(int which, int size) {
  std::vector<SelectedDemand> everywhere;
  for (int i = 0; i < size; ++i) {
    for (const SelectedDemand& demand : BothKinds(NamespaceAt(i))) everywhere.push_back(demand);
  }
  std::vector<OwnedDemands> workload;
  for (int i = 0; i < size; ++i) {
    std::vector<SelectedDemand> demands;
    if (which == 1) demands = BothKinds(NamespaceAt(i));
    if (which == 2) {
      demands = BothKinds(NamespaceAt(0), *LabelSelector::FromMap({{"app", StrCat("a", i)}}));
    }
    if (which == 3) demands = everywhere;
    if (which == 4) demands = {{{kSecrets, NamespaceAt(i), ObjectAt(0)}, {}}};
    workload.push_back({OwnerAt(i), std::move(demands)});
  }
  return workload;
}

std::vector<DemandSpec> StreamsOf(const std::vector<OwnedDemands>& workload) {
  absl::flat_hash_set<DemandSpec> seen;
  std::vector<DemandSpec> streams;
  for (const OwnedDemands& owned : workload) {
    for (const SelectedDemand& demand : owned.demands) {
      if (seen.insert(demand.spec).second) streams.push_back(demand.spec);
    }
  }
  return streams;
}

}  // namespace mandate::bench
