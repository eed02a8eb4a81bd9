#include "hack/bench/ours/watching.h"

#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "hack/bench/ours/report.h"
#include "manager/controller/controller.h"
#include "manager/controller/handlers.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/core/thread_pool.h"

namespace mandate::bench {
namespace {

constexpr char kStamp[] = "bench/ts";

// Sets one latch when it is synced, and another after a number of updates.
class CountingSink : public DemandSink {
 public:
  explicit CountingSink(int updates = 0) : updates_left_(updates) {}

  void OnEvent(const ObjectEvent& event) override {
    if (event.type == ObjectEvent::Type::kAdd) ++adds;
    if (event.type == ObjectEvent::Type::kUpdate && --updates_left_ == 0) updated.Set();
  }
  void OnState(const DemandStatus& status) override {
    if (status.state == DemandState::kSynced) synced.Set();
  }

  Latch synced;
  Latch updated;
  int adds = 0;  // written on the loop; read it after `synced`

 private:
  int updates_left_;
};

DemandSpec Demanded() { return {kConfigMaps, std::string(kNamespace), ""}; }

absl::Status CheckCount(int found, int wanted) {
  return found == wanted ? absl::OkStatus()
                         : absl::InternalError(absl::StrCat("synced with ", found, " of ", wanted));
}

}  // namespace

absl::Status Sync(const Rig::Options& options, int objects) {
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  const double anonymous = MemoryBytes("RssAnon");
  auto sink = std::make_shared<CountingSink>();
  const auto demand = rig->view(0).Demand(Demanded(), sink);
  sink->synced.Wait();
  RETURN_IF_ERROR(CheckCount(sink->adds, objects));
  Report("cpu", CpuSeconds(), "s");
  Report("peak rss", MemoryBytes("VmHWM"), "B");
  Report("rss", MemoryBytes("VmRSS"), "B");
  Report("bytes per object", (MemoryBytes("RssAnon") - anonymous) / objects, "B");
  return absl::OkStatus();
}

absl::Status Storm(const Rig::Options& options, int objects, int events) {
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  auto sink = std::make_shared<CountingSink>(events);
  const auto demand = rig->view(0).Demand(Demanded(), sink);
  sink->synced.Wait();
  RETURN_IF_ERROR(CheckCount(sink->adds, objects));
  const double before = CpuSeconds();
  const auto start = std::chrono::steady_clock::now();
  SayReady();
  sink->updated.Wait();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  Report("cpu per 1M events", (CpuSeconds() - before) * 1e6 / events, "s");
  Report("events per second", events / took.count(), "1/s");
  Report("peak rss", MemoryBytes("VmHWM"), "B");
  return absl::OkStatus();
}

namespace {

// The age in microseconds of the object's event; nullopt if the object is from the initial list.
absl::StatusOr<std::optional<double>> AgeOf(const RawObject& object) {
  const int64_t now = WallNanoseconds();
  const ObjectHeader header = object.Header();
  const auto stamp = header.annotations.find(kStamp);
  int64_t sent = 0;
  if (stamp == header.annotations.end() || !absl::SimpleAtoi(stamp->second, &sent)) {
    return absl::InternalError("an object without a stamp");
  }
  if (sent == 0) return std::nullopt;
  return static_cast<double>(now - sent) / 1e3;
}

// Records the age of an object's event when the object is reconciled.
class Aging : public Reconciler {
 public:
  Aging(CacheView& view, size_t wanted) : view_(view), wanted_(wanted) {}

  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override {
    ASSIGN_OR_RETURN(const auto object, view_.GetRaw(context, kConfigMaps, request.key));
    ASSIGN_OR_RETURN(const std::optional<double> age, AgeOf(*object));
    if (!age) {
      if (++initial_ == objects_) ready.Set();
      return Result{};
    }
    ages_.push_back(*age);
    if (ages_.size() == wanted_) done.Set();
    return Result{};
  }

  void Expect(int objects) { objects_ = objects; }
  // Read it after `done`.
  const std::vector<double>& ages() const { return ages_; }

  Latch ready;
  Latch done;

 private:
  CacheView& view_;
  const size_t wanted_;
  int objects_ = 0;
  // Only one worker uses the members below.
  int initial_ = 0;
  std::vector<double> ages_;
};

}  // namespace

absl::Status Latency(const Rig::Options& options, int objects, int events) {
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  ThreadPool pool(1);
  auto owned = std::make_unique<Aging>(rig->view(0), static_cast<size_t>(events));
  Aging& aging = *owned;
  aging.Expect(objects);
  // The ages when the events arrive on the loop.
  std::vector<double> arrivals;
  const EventHandler arrive = [&, enqueue = EnqueueObject()](
                                  const ObjectEvent& event,
                                  std::vector<Request>& requests) -> absl::Status {
    ASSIGN_OR_RETURN(const std::optional<double> age, AgeOf(*event.object));
    if (age) arrivals.push_back(*age);
    return enqueue(event, requests);
  };
  ASSIGN_OR_RETURN(
      auto controller,
      Controller::Create({.name = "bench",
                          .controller_context = {"bench-0", rig->loop(), pool, rig->view(0),
                                                 rig->metrics(), Logger(), 1},
                          .sources = {{Demanded(), arrive, {}}},
                          .reconciler = std::move(owned),
                          .controller = {}}));
  controller->Start();
  aging.ready.Wait();
  const double before = CpuSeconds();
  SayReady();
  aging.done.Wait();
  const double used = CpuSeconds() - before;
  absl::Status stopped = controller->Stop(absl::InfiniteFuture());
  ReportAges(aging.ages(), "");
  ReportAges(std::move(arrivals), " at the loop");
  Report("cpu per event", used * 1e6 / events, "us");
  return stopped;
}

absl::Status Identities(const Rig::Options& options, int objects) {
  ASSIGN_OR_RETURN(auto rig, Rig::Create(options));
  std::vector<std::shared_ptr<CountingSink>> sinks;
  std::vector<std::unique_ptr<DemandHandle>> demands;
  for (int i = 0; i < options.components; ++i) {
    sinks.push_back(std::make_shared<CountingSink>());
    demands.push_back(rig->view(i).Demand(Demanded(), sinks.back()));
  }
  for (const auto& sink : sinks) {
    sink->synced.Wait();
    RETURN_IF_ERROR(CheckCount(sink->adds, objects));
  }
  Report("cpu", CpuSeconds(), "s");
  Report("rss", MemoryBytes("VmRSS"), "B");
  Report("peak rss", MemoryBytes("VmHWM"), "B");
  return absl::OkStatus();
}

}  // namespace mandate::bench
