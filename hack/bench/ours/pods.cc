#include "hack/bench/ours/pods.h"

#include <chrono>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hack/bench/ours/report.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate::bench {
namespace {

using corev1::Pod;
using SteadyClock = std::chrono::steady_clock;

// Counts the initial objects until it is synced.
class CountingSink : public DemandSink {
 public:
  void OnEvent(const ObjectEvent& event) override {
    if (event.type == ObjectEvent::Type::kAdd) ++adds;
  }
  void OnState(const DemandStatus& status) override {
    if (status.state == DemandState::kSynced) synced.Set();
  }

  Latch synced;
  int adds = 0;  // written on the loop; read it after `synced`
};

// Collects the keys of the initial objects until it is synced.
class KeySink : public DemandSink {
 public:
  void OnEvent(const ObjectEvent& event) override {
    if (event.type == ObjectEvent::Type::kAdd) keys.push_back(event.object->Key());
  }
  void OnState(const DemandStatus& status) override {
    if (status.state == DemandState::kSynced) synced.Set();
  }

  Latch synced;
  std::vector<ObjectKey> keys;  // written on the loop; read it after `synced`
};

// Calls read(key) for random keys, and reports the percentiles of its times.
template <class Read>
absl::Status TimeReads(const std::vector<ObjectKey>& keys, int reads, std::string_view suffix,
                       Read read) {
  std::mt19937_64 random(1);
  std::uniform_int_distribution<size_t> choose(0, keys.size() - 1);
  std::vector<double> took;
  took.reserve(static_cast<size_t>(reads));
  for (int i = 0; i < reads; ++i) {
    const ObjectKey& key = keys[choose(random)];
    const auto start = SteadyClock::now();
    const absl::Status status = read(key);
    const std::chrono::duration<double, std::micro> time = SteadyClock::now() - start;
    RETURN_IF_ERROR(status);
    took.push_back(time.count());
  }
  ReportAges(std::move(took), suffix);
  return absl::OkStatus();
}

absl::Status ReadPods(const CacheView& view, const std::vector<ObjectKey>& keys, int reads) {
  const CallContext context = NonBlockingContext();
  RETURN_IF_ERROR(TimeReads(keys, reads, " of a read", [&](const ObjectKey& key) -> absl::Status {
    ASSIGN_OR_RETURN(const auto object, view.GetRaw(context, KindOf<Pod>::value, key));
    return object->Header().name == key.name ? absl::OkStatus()
                                             : absl::InternalError("read another object");
  }));
  return TimeReads(keys, reads, " of a typed read", [&](const ObjectKey& key) -> absl::Status {
    ASSIGN_OR_RETURN(const Pod pod, view.Get<Pod>(context, key));
    return pod.metadata().name() == key.name ? absl::OkStatus()
                                             : absl::InternalError("read another object");
  });
}

}  // namespace

absl::Status Pods(const Rig::Options& options, int objects, int reads) {
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  const DemandSpec every_pod = {KindOf<Pod>::value, "", ""};
  const double anonymous = MemoryBytes("RssAnon");
  const auto start = SteadyClock::now();
  auto sink = std::make_shared<CountingSink>();
  const auto demand = rig->view(0).Demand(every_pod, sink);
  sink->synced.Wait();
  const std::chrono::duration<double> wall = SteadyClock::now() - start;
  if (sink->adds != objects) {
    return absl::InternalError(StrCat("synced with ", sink->adds, " of ", objects));
  }
  Report("cpu", CpuSeconds(), "s");
  Report("wall", wall.count(), "s");
  Report("peak rss", MemoryBytes("VmHWM"), "B");
  Report("rss", MemoryBytes("VmRSS"), "B");
  Report("resident bytes per object", (MemoryBytes("RssAnon") - anonymous) / objects, "B");
  // After the memory is measured, because the keys need some, too.
  auto key_sink = std::make_shared<KeySink>();
  const auto joined = rig->view(0).Demand(every_pod, key_sink);
  key_sink->synced.Wait();
  return ReadPods(rig->view(0), key_sink->keys, reads);
}

}  // namespace mandate::bench
