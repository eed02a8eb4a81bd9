#include "hack/bench/ours/scoped_switches.h"

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

  // Waits until it is synced and has the object at this version or a newer one.
  void Await(const std::string& name, int64_t version) {
    MutexLock lock(mutex_);
    while (!synced_ || versions_[name] < version) changed_.Wait(mutex_);
  }
  int64_t VersionOf(const std::string& name) {
    MutexLock lock(mutex_);
    return versions_[name];
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
    // The i-th object was changed i-th.
    const auto newest = [&](int i) {
      return static_cast<int64_t>(stats.version) - objects + 1 + i;
    };
    for (Slot& slot : slots) {
      if (slot.sink == nullptr) continue;
      const std::string last = slot.spec.name.empty() ? ObjectAt(objects - 1) : slot.spec.name;
      slot.sink->Await(last, newest(last == ObjectAt(0) ? 0 : objects - 1));
      for (int i = 0; i < objects; ++i) {
        const std::string name = ObjectAt(i);
        if (!slot.spec.name.empty() && name != slot.spec.name) continue;
        if (slot.sink->VersionOf(name) != newest(i)) ++counts.lost;
      }
    }
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
