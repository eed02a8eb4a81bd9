#include "hack/bench/ours/scoped_switches.h"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "hack/bench/ours/report.h"
#include "hack/bench/ours/scoped_server.h"
#include "hack/bench/ours/scoped_workloads.h"
#include "manager/cache/store.h"
#include "manager/core/mutex.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/loop_call.h"

namespace mandate::bench {
namespace {

// Keeps the version of each object of one namespace, as the events report it.
class Recorder : public DemandSink {
 public:
  explicit Recorder(std::string ns) : ns_(std::move(ns)) {}

  void OnEvent(const ObjectEvent& event) override {
    if (event.object->ns() != ns_) return;
    const auto version =
        static_cast<int64_t>(ParseResourceVersion(event.object->resource_version()).value_or(0));
    MutexLock lock(mutex_);
    int64_t& known = versions_[std::string(event.object->name())];
    if (version <= known) ++doubled_;
    known = version;
    ++events_;
    changed_.NotifyAll();
  }
  void OnState(const DemandStatus& status) override {
    MutexLock lock(mutex_);
    synced_ = status.state == DemandState::kSynced;
    changed_.NotifyAll();
  }

  // Waits until it is synced and has each object at its version, or until Expire(). Returns how
  // many objects it does not have at their versions. Objects of different streams come in any
  // order.
  int Await(const std::map<std::string, int64_t>& newest) {
    const auto missing = [&]() ABSL_NO_THREAD_SAFETY_ANALYSIS {
      return std::ranges::count_if(
          newest, [&](const auto& object) { return versions_[object.first] != object.second; });
    };
    MutexLock lock(mutex_);
    while (!expired_ && (!synced_ || missing() > 0)) changed_.Wait(mutex_);
    return static_cast<int>(missing());
  }
  void Expire() {
    MutexLock lock(mutex_);
    expired_ = true;
    changed_.NotifyAll();
  }
  int doubled() {
    MutexLock lock(mutex_);
    return doubled_;
  }
  int events() {
    MutexLock lock(mutex_);
    return events_;
  }

 private:
  const std::string ns_;
  Mutex mutex_;
  CondVar changed_;
  bool synced_ ABSL_GUARDED_BY(mutex_) = false;
  bool expired_ ABSL_GUARDED_BY(mutex_) = false;
  int doubled_ ABSL_GUARDED_BY(mutex_) = 0;
  int events_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::string, int64_t> versions_ ABSL_GUARDED_BY(mutex_);
};

struct Slot {
  DemandSpec spec;
  std::shared_ptr<Recorder> sink = nullptr;
  std::unique_ptr<DemandHandle> handle = nullptr;
};

struct Counts {
  int doubled = 0, lost = 0, switches = 0;
  double events = 0;

  void Add(Recorder& sink) {
    doubled += sink.doubled();
    events += sink.events();
  }
};

// An event that has not come by then is lost.
constexpr absl::Duration kLost = absl::Seconds(30);

int AwaitWithin(absl::Duration limit, Rig& rig, Recorder& sink,
                const std::map<std::string, int64_t>& newest) {
  Loop& loop = rig.loop();
  std::unique_ptr<Loop::Timer> timer = CallOnLoop(
      loop, [&] { return loop.RunAt(loop.clock().TimeNow() + limit, [&] { sink.Expire(); }); });
  const int missing = sink.Await(newest);
  CallOnLoop(loop, [&] { timer.reset(); });
  return missing;
}

void Toggle(CacheView& view, Slot& slot, const std::string& ns, Counts& counts) {
  ++counts.switches;
  if (slot.handle == nullptr) {
    slot.sink = std::make_shared<Recorder>(ns);
    slot.handle = view.Demand(slot.spec, slot.sink);
    return;
  }
  slot.handle.reset();
  counts.Add(*slot.sink);
  slot.sink.reset();
}

}  // namespace

absl::Status Switches(const Rig::Options& options, int objects, int steps, uint64_t seed) {
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  const std::string ns = NamespaceAt(0);
  std::array<Slot, 4> slots = {{{{kConfigMaps, "", ""}},
                                {{kConfigMaps, ns, ""}},
                                {{kConfigMaps, ns, ObjectAt(0)}},
                                {{kConfigMaps, ns, ObjectAt(objects - 1)}}}};
  std::mt19937_64 random(seed);
  Counts counts;
  const std::string touch = StrCat("touch?resource=configmaps&ns=", ns, "&n=", objects);
  for (int step = 0; step < steps; ++step) {
    // The events of this change are on their way when the scopes change.
    RETURN_IF_ERROR(TellServer(touch));
    Toggle(rig->view(0), slots[random() % slots.size()], ns, counts);
    if (random() % 2 == 0) Toggle(rig->view(0), slots[random() % slots.size()], ns, counts);
    RETURN_IF_ERROR(TellServer(touch));
    ASSIGN_OR_RETURN(const ServerStats stats, AskServer());
    for (Slot& slot : slots) {
      if (slot.sink == nullptr) continue;
      // The i-th object was changed i-th.
      std::map<std::string, int64_t> newest;
      for (int i = 0; i < objects; ++i) {
        if (!slot.spec.name.empty() && ObjectAt(i) != slot.spec.name) continue;
        newest[ObjectAt(i)] = static_cast<int64_t>(stats.version) - objects + 1 + i;
      }
      counts.lost += AwaitWithin(kLost, *rig, *slot.sink, newest);
    }
    // An event that is lost in this step is also missing in all later ones.
    if (counts.lost > 0) break;
  }
  for (Slot& slot : slots) {
    if (slot.sink != nullptr) counts.Add(*slot.sink);
    slot.handle.reset();
  }
  Report("duplicate events", counts.doubled, "");
  Report("lost events", counts.lost, "");
  Report("switches", counts.switches, "");
  Report("events", counts.events, "");
  return absl::OkStatus();
}

}  // namespace mandate::bench
