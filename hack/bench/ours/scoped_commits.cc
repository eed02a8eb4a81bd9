#include "hack/bench/ours/scoped_commits.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "hack/bench/ours/report.h"
#include "hack/bench/ours/scoped_demands.h"
#include "hack/bench/ours/scoped_server.h"
#include "hack/bench/ours/scoped_workloads.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

double Microseconds(SteadyClock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

double Anonymous() {
  malloc_trim(0);
  return MemoryBytes("RssAnon");
}

// The median time in microseconds of `times` calls of `commit`, which gets their numbers.
template <class Commit>
double MedianOf(int times, Commit commit) {
  std::vector<double> took;
  for (int i = 0; i < times; ++i) {
    const auto start = SteadyClock::now();
    commit(i);
    took.push_back(Microseconds(SteadyClock::now() - start));
  }
  std::nth_element(took.begin(), took.begin() + times / 2, took.end());
  return took[static_cast<size_t>(times / 2)];
}

}  // namespace

absl::Status Commits(const Rig::Options& options, int demands, int commits) {
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  ScopedDemands owners(*rig);
  // Another owner keeps the streams open: a new demand attaches to one of them.
  OwnedDemands all = Workload(3, demands / 2 + 1).front();
  owners.ReplaceAndSync({all});
  all.owner = OwnerAt(1);
  all.demands.resize(static_cast<size_t>(demands));
  OwnedDemands more = all;
  more.demands.push_back(Workload(3, demands / 2 + 1).front().demands.back());
  owners.Replace(all);
  Report("unchanged commit", MedianOf(commits, [&](int) { owners.Replace(all); }), "us");
  Report("changed commit",
         MedianOf(commits, [&](int i) { owners.Replace(i % 2 == 0 ? more : all); }), "us");
  return absl::OkStatus();
}

namespace {

// The median time of an Add() in nanoseconds, when the owner has `held` demands.
double AdditionTo(int held) {
  constexpr int kAdded = 512;
  DemandTable table;
  std::vector<SelectedDemand> demands;
  for (int i = 0; i < held + kAdded; ++i) {
    demands.push_back({{kConfigMaps, StrCat("n-", i), ""}, {}});
  }
  table.Replace(OwnerAt(0), demands);
  std::vector<SelectedDemand> first(demands.begin(), demands.begin() + held);
  table.Replace(OwnerAt(1), first);
  const auto add = [&](int i) { table.Add(OwnerAt(1), demands[static_cast<size_t>(held + i)]); };
  return MedianOf(kAdded, add) * 1e3;
}

}  // namespace

absl::Status Additions(int few, int many) {
  const double of_few = AdditionTo(few), of_many = AdditionTo(many);
  Report("addition to few", of_few, "ns");
  Report("addition to many", of_many, "ns");
  Report("ratio", of_many / of_few, "");
  return absl::OkStatus();
}

absl::Status Cycles(const Rig::Options& options, int namespaces, int cycles) {
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  ScopedDemands demands(*rig);
  // Two passes of every namespace fill what is kept on purpose, such as the allocator's arenas.
  const int warm_up = 2 * namespaces;
  double before = 0;
  const auto start = SteadyClock::now();
  for (int i = 0; i < warm_up + cycles; ++i) {
    if (i == warm_up) before = Anonymous();
    const KindInfo& kind = i % 2 == 0 ? kConfigMaps : kSecrets;
    demands.ReplaceAndSync({{OwnerAt(0), {{{kind, NamespaceAt(i / 2 % namespaces), ""}, {}}}}});
    demands.set().Release(OwnerAt(0));
  }
  const double took = Microseconds(SteadyClock::now() - start);
  ServerStats stats;
  do {
    ASSIGN_OR_RETURN(stats, AskServer());
  } while (stats.open > 0);  // the driver ends a program that takes too long
  Report("rss drift", Anonymous() - before, "B");
  Report("streams left", stats.open, "");
  Report("demands left",
         rig->metrics()
             .Gauge("mandate_cache_demands", "Demands held", {{"identity", rig->name(0)}})
             .Value(),
         "");
  Report("watches", stats.watches, "");
  Report("cycle", took / (warm_up + cycles), "us");
  return absl::OkStatus();
}

}  // namespace mandate::bench
