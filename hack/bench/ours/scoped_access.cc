#include "hack/bench/ours/scoped_access.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "hack/bench/ours/report.h"
#include "hack/bench/ours/scoped_server.h"
#include "hack/bench/ours/scoped_workloads.h"
#include "manager/core/mutex.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

double Microseconds(SteadyClock::duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

// Keeps when the demand got its state.
class StateSink : public DemandSink {
 public:
  void OnEvent(const ObjectEvent&) override {}
  void OnState(const DemandStatus& status) override {
    MutexLock lock(mutex_);
    state_ = status.state;
    since_ = SteadyClock::now();
    changed_.NotifyAll();
  }
  bool Is(DemandState state) {
    MutexLock lock(mutex_);
    return state_ == state;
  }
  // Waits for the state; returns when it began.
  SteadyClock::time_point Await(DemandState state) {
    MutexLock lock(mutex_);
    while (state_ != state) changed_.Wait(mutex_);
    return since_;
  }

 private:
  Mutex mutex_;
  CondVar changed_;
  DemandState state_ ABSL_GUARDED_BY(mutex_) = DemandState::kPending;
  SteadyClock::time_point since_ ABSL_GUARDED_BY(mutex_);
};

// A demand for the ConfigMaps of each namespace.
struct Demands {
  Demands(Rig& rig, int namespaces) {
    for (int i = 0; i < namespaces; ++i) {
      sinks.push_back(std::make_shared<StateSink>());
      handles.push_back(rig.view(0).Demand({kConfigMaps, NamespaceAt(i), ""}, sinks.back()));
    }
  }
  void Await(DemandState state) {
    for (const auto& sink : sinks) sink->Await(state);
  }

  std::vector<std::shared_ptr<StateSink>> sinks;
  std::vector<std::unique_ptr<DemandHandle>> handles;
};

absl::Status SetDenied(const std::string& ns, bool denied) {
  return TellServer(StrCat("deny?ns=", ns, "&denied=", denied ? "true" : "false"));
}

absl::StatusCode ReadOf(Rig& rig, const std::string& ns) {
  return rig.view(0).GetRaw(NonBlockingContext(), kConfigMaps, {ns, ObjectAt(0)}).status().code();
}

// What must be true as soon as a sink knows of the denial.
absl::Status CheckUnreadable(Rig& rig, const std::string& ns) {
  if (ReadOf(rig, ns) != absl::StatusCode::kPermissionDenied ||
      rig.view(0).GetLastKnown(kConfigMaps, {ns, ObjectAt(0)}) != nullptr) {
    return absl::InternalError(StrCat("denied objects of ", ns, " can be read"));
  }
  return absl::OkStatus();
}

double PercentileOf(std::vector<double>& values, double share) {
  const auto at =
      values.begin() + static_cast<long>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// Reads another namespace until `until` says so; adds the time of each read.
template <class Until>
absl::Status ReadMeanwhile(Rig& rig, std::vector<double>& took, Until until) {
  const std::string other = NamespaceAt(0);
  while (!until()) {
    for (int i = 0; i < 16; ++i) {
      const auto start = SteadyClock::now();
      if (ReadOf(rig, other) != absl::StatusCode::kOk) {
        return absl::InternalError("another namespace cannot be read");
      }
      took.push_back(Microseconds(SteadyClock::now() - start));
    }
  }
  return absl::OkStatus();
}

void ReportTimes(std::string_view what, std::vector<double>& microseconds) {
  Report(StrCat("p50 of ", what), PercentileOf(microseconds, 0.5) / 1e3, "ms");
  Report(StrCat("longest ", what), PercentileOf(microseconds, 1) / 1e3, "ms");
}

}  // namespace

absl::Status RevokedWithHint(Rig::Options options, int namespaces, int times) {
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  Demands demands(*rig, namespaces);
  demands.Await(DemandState::kSynced);
  std::vector<double> revoked, granted, quiet, meanwhile;
  for (int i = 0; i < times; ++i) {
    // Long enough that the budget of probes is not used up.
    const auto quiet_until = SteadyClock::now() + std::chrono::milliseconds(500);
    RETURN_IF_ERROR(ReadMeanwhile(*rig, quiet, [&] { return SteadyClock::now() >= quiet_until; }));
    const int at = 1 + i % (namespaces - 1);
    StateSink& sink = *demands.sinks[static_cast<size_t>(at)];
    for (const bool denied : {true, false}) {
      RETURN_IF_ERROR(SetDenied(NamespaceAt(at), denied));
      const DemandState wanted = denied ? DemandState::kForbidden : DemandState::kSynced;
      const auto start = SteadyClock::now();
      rig->cache().RecheckAccess(rig->name(0), NamespaceAt(at));
      RETURN_IF_ERROR(ReadMeanwhile(*rig, meanwhile, [&] { return sink.Is(wanted); }));
      (denied ? revoked : granted).push_back(Microseconds(sink.Await(wanted) - start));
      if (denied) RETURN_IF_ERROR(CheckUnreadable(*rig, NamespaceAt(at)));
    }
  }
  ReportTimes("revocation", revoked);
  ReportTimes("grant", granted);
  Report("p99 of a read before", PercentileOf(quiet, 0.99), "us");
  Report("p99 of a read meanwhile", PercentileOf(meanwhile, 0.99), "us");
  Report("p99 ratio", PercentileOf(meanwhile, 0.99) / PercentileOf(quiet, 0.99), "");
  return absl::OkStatus();
}

absl::Status RevokedWithoutHint(Rig::Options options, int namespaces, absl::Duration proof_lifetime,
                                absl::Duration probe_cap) {
  options.cache = [=](Cache::Options& cache) {
    cache.proof_lifetime = proof_lifetime;
    cache.reflector.forbidden_backoff.max = probe_cap;
    cache.access.denied_backoff.max = probe_cap;
  };
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  Demands demands(*rig, namespaces);
  demands.Await(DemandState::kSynced);
  std::vector<double> revoked, granted;
  for (const bool denied : {true, false}) {
    RETURN_IF_ERROR(SetDenied("", denied));
    const auto start = SteadyClock::now();
    for (int i = 0; i < namespaces; ++i) {
      const auto since = demands.sinks[static_cast<size_t>(i)]->Await(
          denied ? DemandState::kForbidden : DemandState::kSynced);
      (denied ? revoked : granted).push_back(Microseconds(since - start));
      if (denied) RETURN_IF_ERROR(CheckUnreadable(*rig, NamespaceAt(i)));
    }
    // So that the waits between probes have reached their longest.
    if (denied) rig->WaitFor(4 * probe_cap);
  }
  ReportTimes("revocation", revoked);
  ReportTimes("grant", granted);
  Report("revocation to lifetime",
         PercentileOf(revoked, 1) / absl::ToDoubleMicroseconds(proof_lifetime), "");
  Report("grant to cap", PercentileOf(granted, 1) / absl::ToDoubleMicroseconds(probe_cap), "");
  return absl::OkStatus();
}

namespace {

class CountingLog : public LogSink {
 public:
  void Write(const LogRecord&) override { ++lines; }
  int verbosity() const override { return 0; }

  std::atomic<int> lines = 0;
};

}  // namespace

absl::Status AllDenied(Rig::Options options, int namespaces, absl::Duration settle,
                       absl::Duration window) {
  const auto log = std::make_shared<CountingLog>();
  options.cache = [&](Cache::Options& cache) { cache.log = Logger(log, Clock::Real()); };
  RETURN_IF_ERROR(SetDenied("", true));
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  // Without sinks, since the cache leaves the log line to a sink.
  std::vector<std::unique_ptr<DemandHandle>> demands;
  for (int i = 0; i < namespaces; ++i) {
    demands.push_back(rig->view(0).Demand({kConfigMaps, NamespaceAt(i), ""}, nullptr));
  }
  for (const auto& demand : demands) {
    while (demand->status().state != DemandState::kForbidden) rig->WaitFor(absl::Milliseconds(1));
  }
  Report("log lines per namespace", static_cast<double>(log->lines) / namespaces, "");
  rig->WaitFor(settle);
  ASSIGN_OR_RETURN(const ServerStats from, AskServer());
  const int lines = log->lines;
  const auto start = SteadyClock::now();
  rig->WaitFor(window);
  ASSIGN_OR_RETURN(const ServerStats to, AskServer());
  const double took = Microseconds(SteadyClock::now() - start) / 1e6;
  Report("probes per second", (to.requests - from.requests) / took, "1/s");
  Report("log lines per second", (log->lines - lines) / took, "1/s");
  Report("first requests", from.requests, "");
  return absl::OkStatus();
}

}  // namespace mandate::bench
