#include "hack/bench/ours/scoped_reads.h"

#include <chrono>
#include <vector>

#include "hack/bench/ours/report.h"
#include "hack/bench/ours/scoped_demands.h"
#include "hack/bench/ours/scoped_server.h"
#include "hack/bench/ours/scoped_workloads.h"
#include "manager/core/status_macros.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

double Microseconds(SteadyClock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

}  // namespace

absl::Status FirstAndWarmReads(const Rig::Options& options, int namespaces, int reads) {
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  ScopedDemands demands(*rig);
  const CallContext context{.deadline = absl::InfiniteFuture(), .stop = {}};
  // The first one also waits for the component's token.
  std::vector<double> took;
  for (int i = 0; i < namespaces; ++i) {
    const auto start = SteadyClock::now();
    const ObjectDemand<corev1::ConfigMap> demand(
        {DemandOf<corev1::ConfigMap>(OneObject{NamespaceAt(i), ObjectAt(0)})});
    ASSIGN_OR_RETURN(const auto read, demands.set().Get(context, OwnerAt(0), demand));
    if (i > 0) took.push_back(Microseconds(SteadyClock::now() - start));
    if (read.metadata().name() != ObjectAt(0)) return absl::InternalError("another object");
  }
  ReportAges(took, " of a first read");
  ASSIGN_OR_RETURN(const ServerStats before, AskServer());
  const ObjectKey key{NamespaceAt(0), ObjectAt(0)};
  const auto start = SteadyClock::now();
  for (int i = 0; i < reads; ++i) {
    ASSIGN_OR_RETURN(const auto read, rig->view(0).GetRaw(context, kConfigMaps, key));
    if (read->name() != key.name) return absl::InternalError("another object");
  }
  Report("warm read", Microseconds(SteadyClock::now() - start) / reads, "us");
  ASSIGN_OR_RETURN(const ServerStats after, AskServer());
  Report("requests of warm reads", after.requests - before.requests, "");
  return absl::OkStatus();
}

}  // namespace mandate::bench
