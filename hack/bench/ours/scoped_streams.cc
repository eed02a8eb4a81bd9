#include "hack/bench/ours/scoped_streams.h"

#include <malloc.h>

#include <chrono>
#include <memory>
#include <utility>
#include <vector>

#include "hack/bench/ours/report.h"
#include "hack/bench/ours/scoped_demands.h"
#include "hack/bench/ours/scoped_server.h"
#include "hack/bench/ours/scoped_workloads.h"
#include "manager/core/status_macros.h"

namespace mandate::bench {
namespace {

double Seconds(std::chrono::steady_clock::duration duration) {
  return std::chrono::duration<double>(duration).count();
}

double Anonymous() {
  malloc_trim(0);
  return MemoryBytes("RssAnon");
}

}  // namespace

absl::Status Streams(const Rig::Options& options, int workload, int size) {
  const std::vector<OwnedDemands> owners = Workload(workload, size);
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  ScopedDemands demands(*rig);
  const double cpu = CpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  demands.ReplaceAndSync(owners);
  Report("sync", Seconds(std::chrono::steady_clock::now() - start), "s");
  const double took = CpuSeconds() - cpu;
  size_t count = 0;
  for (const OwnedDemands& owned : owners) count += owned.demands.size();
  Report("cpu", took, "s");
  Report("cpu per demand", took * 1e6 / static_cast<double>(count), "us");
  ASSIGN_OR_RETURN(const ServerStats stats, AskServer());
  Report("streams", stats.open, "");
  Report("requests", stats.requests, "");
  Report("reviews", stats.reviews, "");
  Report("connections", stats.connections, "");
  return absl::OkStatus();
}

absl::Status AttachedDemands(const Rig::Options& options, int size) {
  const std::vector<OwnedDemands> owners = Workload(3, size);
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  ScopedDemands demands(*rig);
  demands.ReplaceAndSync({owners.front()});
  const double before = Anonymous();
  const auto start = std::chrono::steady_clock::now();
  for (size_t i = 1; i < owners.size(); ++i) demands.Replace(owners[i]);
  const double took = Seconds(std::chrono::steady_clock::now() - start);
  const double attached = static_cast<double>(owners.size() - 1) * 2 * size;
  Report("bytes per demand", (Anonymous() - before) / attached, "B");
  Report("ns per demand", took * 1e9 / attached, "ns");
  ASSIGN_OR_RETURN(const ServerStats stats, AskServer());
  Report("streams", stats.open, "");
  return absl::OkStatus();
}

absl::Status Idle(const Rig::Options& options, int size, absl::Duration bookmarks) {
  const std::vector<OwnedDemands> owners = Workload(1, size);
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  ScopedDemands demands(*rig);
  demands.ReplaceAndSync({owners.front()});  // what the first streams alone cost is not measured
  const double before = Anonymous();
  demands.ReplaceAndSync(owners);
  const double streams = 2.0 * size;
  Report("bytes per stream", (Anonymous() - before) / (streams - 2), "B");
  ASSIGN_OR_RETURN(const ServerStats from, AskServer());
  const double cpu = CpuSeconds();
  rig->WaitFor(5 * bookmarks);
  const double used = CpuSeconds() - cpu;
  ASSIGN_OR_RETURN(const ServerStats to, AskServer());
  const double count = to.bookmarks - from.bookmarks;
  if (count == 0) return absl::InternalError("no bookmark was sent");
  // A server sends one each minute.
  const double per_second = streams / 60;
  Report("messages per second", per_second, "1/s");
  Report("bytes per second",
         per_second * (to.sent - from.sent + to.received - from.received) / count, "B/s");
  Report("bytes per bookmark", (to.bookmark_bytes - from.bookmark_bytes) / count, "B");
  Report("bookmarks counted", count, "");
  Report("cpu per bookmark", used * 1e6 / count, "us");
  Report("requests while idle", to.requests - from.requests, "");
  return absl::OkStatus();
}

absl::Status Renewals(const Rig::Options& options, int size, absl::Duration lifetime) {
  absl::Duration by_default;
  Rig::Options shortened = options;
  shortened.cache = [&](Cache::Options& cache) {
    by_default = std::exchange(cache.proof_lifetime, lifetime);
  };
  ASSIGN_OR_RETURN(auto rig, Rig::Create(shortened));
  ScopedDemands demands(*rig);
  demands.ReplaceAndSync(Workload(1, size));
  // Renewals begin together with the streams, and are spread after a while.
  rig->WaitFor(2 * lifetime);
  ASSIGN_OR_RETURN(const ServerStats from, AskServer());
  const auto start = std::chrono::steady_clock::now();
  rig->WaitFor(3 * lifetime);
  ASSIGN_OR_RETURN(const ServerStats to, AskServer());
  const double scale =
      absl::FDivDuration(lifetime, by_default) / Seconds(std::chrono::steady_clock::now() - start);
  const double bytes = to.sent - from.sent + to.received - from.received;
  Report("requests per second", (to.requests - from.requests) * scale, "1/s");
  Report("bytes per second", bytes * scale, "B/s");
  Report("bytes per renewal", bytes / (to.requests - from.requests), "B");
  return absl::OkStatus();
}

absl::Status Stop(const Rig::Options& options, int size) {
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  auto demands = std::make_unique<ScopedDemands>(*rig);
  demands->ReplaceAndSync(Workload(1, size));
  const auto start = std::chrono::steady_clock::now();
  demands.reset();
  rig->CloseWatches();
  rig.reset();
  Report("stop", Seconds(std::chrono::steady_clock::now() - start) * 1e3, "ms");
  ServerStats stats;
  do {
    ASSIGN_OR_RETURN(stats, AskServer());
  } while (stats.open > 0);  // the driver ends a program that takes too long
  Report("closed", stats.closed, "");
  Report("closed in one second", stats.closed_in_one_second, "");
  return absl::OkStatus();
}

}  // namespace mandate::bench
