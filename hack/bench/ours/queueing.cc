#include "hack/bench/ours/queueing.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "hack/bench/ours/report.h"
#include "hack/bench/ours/rig.h"
#include "manager/controller/controller.h"
#include "manager/controller/handlers.h"
#include "manager/controller/work_queue.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/core/thread_pool.h"

namespace mandate::bench {
namespace {

using SteadyClock = std::chrono::steady_clock;

void ReportCost(int keys, double cpu, SteadyClock::time_point start) {
  const std::chrono::duration<double> took = SteadyClock::now() - start;
  Report("cpu per item", cpu * 1e6 / keys, "us");
  Report("wall per item", took.count() * 1e6 / keys, "us");
  Report("items per second", keys / took.count(), "1/s");
}

// A view whose only demand gets the same objects as initial events.
class ReplayingView : public CacheView {
 public:
  ReplayingView(Loop& loop, std::vector<ObjectEvent> events)
      : loop_(loop), events_(std::move(events)) {}

  std::unique_ptr<DemandHandle> Demand(DemandSpec, std::shared_ptr<DemandSink> sink) override {
    loop_.Post([this, sink = std::move(sink)] {
      // The workers start first, so that they work while the events arrive.
      sink->OnState({DemandState::kSynced, absl::OkStatus()});
      for (const ObjectEvent& event : events_) sink->OnEvent(event);
    });
    return std::make_unique<Handle>();
  }
  absl::StatusOr<std::shared_ptr<const RawObject>> GetRaw(const CallContext&, const KindInfo&,
                                                          const ObjectKey&) const override {
    return absl::NotFoundError("nothing is read");
  }
  absl::StatusOr<std::vector<std::shared_ptr<const RawObject>>> ListRaw(
      const CallContext&, const KindInfo&, std::string_view) const override {
    return absl::NotFoundError("nothing is read");
  }
  absl::StatusOr<std::vector<std::shared_ptr<const RawObject>>> ListRawSelected(
      const CallContext&, const KindInfo&, std::string_view, const LabelSelector&) const override {
    return absl::NotFoundError("nothing is read");
  }
  std::vector<std::shared_ptr<const RawObject>> ListLastKnown(const KindInfo&,
                                                              std::string_view) const override {
    return {};
  }
  std::shared_ptr<const RawObject> GetLastKnown(const KindInfo&, const ObjectKey&) const override {
    return nullptr;
  }
  absl::Status IndexField(const KindInfo&, std::string_view, IndexFunc) override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<std::shared_ptr<const RawObject>>> ListRawByIndex(
      const CallContext&, const KindInfo&, const IndexQuery&) const override {
    return absl::NotFoundError("nothing is read");
  }
  std::vector<std::shared_ptr<const RawObject>> ListLastKnownByIndex(
      const KindInfo&, const IndexQuery&) const override {
    return {};
  }

 private:
  struct Handle : DemandHandle {
    DemandStatus status() const override { return {DemandState::kSynced, absl::OkStatus()}; }
    void Pause() override {}
    void Resume() override {}
    void AddFlow(std::string) override {}
  };

  Loop& loop_;
  const std::vector<ObjectEvent> events_;
};

class Counting : public Reconciler {
 public:
  explicit Counting(int count) : left_(count) {}
  absl::StatusOr<Result> Reconcile(const CallContext&, const Request&) override {
    if (--left_ == 0) all.Set();
    return Result{};
  }

  Latch all;

 private:
  std::atomic<int> left_;
};

}  // namespace

absl::Status AddGetDone(int keys) {
  std::vector<Request> requests;
  requests.reserve(static_cast<size_t>(keys));
  for (int i = 0; i < keys; ++i) {
    requests.push_back({{std::string(kNamespace), StrCat("object-", i)}});
  }
  const Clock& clock = Clock::Real();
  WorkQueue queue({});
  const double before = CpuSeconds();
  const auto start = SteadyClock::now();
  // As in a controller, a worker that finds the queue empty sleeps until the producer wakes it.
  std::atomic<bool> asleep = false;
  std::jthread producer([&] {
    for (const Request& request : requests) {
      queue.Add(request, {}, clock.TimeNow());
      if (asleep && asleep.exchange(false)) asleep.notify_one();
    }
  });
  const WorkItem* item = nullptr;
  for (int done = 0; done < keys;) {
    if (item == nullptr) {
      asleep = true;
      item = queue.Get(clock.TimeNow());
      if (item == nullptr) asleep.wait(true);
      asleep = false;
      continue;
    }
    item = queue.DoneAndGet(*item, {}, clock.TimeNow());
    ++done;
  }
  ReportCost(keys, CpuSeconds() - before, start);
  return absl::OkStatus();
}

absl::Status EmptyReconciles(int keys, int workers) {
  ASSIGN_OR_RETURN(auto loop, EventLoop::Create());
  ThreadPool pool(workers);
  std::vector<ObjectEvent> events;
  for (int i = 0; i < keys; ++i) {
    ASSIGN_OR_RETURN(auto object,
                     ParseRawObject(StrCat(R"({"metadata":{"namespace":"bench","name":"object-)", i,
                                           R"(","uid":"u","resourceVersion":"1"}})"),
                                    Encoding::kJson));
    events.push_back({.type = ObjectEvent::Type::kAdd, .object = std::move(object), .old = {}});
  }
  ReplayingView view(*loop, std::move(events));
  Metrics metrics;
  auto owned = std::make_unique<Counting>(keys);
  Counting& counting = *owned;
  ASSIGN_OR_RETURN(
      auto controller,
      Controller::Create({.name = "bench",
                          .controller_context = {"bench", *loop, pool, view, metrics, {}, 1},
                          .sources = {{{kConfigMaps, "", ""}, EnqueueObject(), {}}},
                          .reconciler = std::move(owned),
                          .controller = {.max_concurrent_reconciles = workers}}));
  const double before = CpuSeconds();
  const auto start = SteadyClock::now();
  controller->Start();
  counting.all.Wait();
  ReportCost(keys, CpuSeconds() - before, start);
  absl::Status status = controller->Stop(absl::InfiniteFuture());
  controller.reset();
  loop->Stop();
  return status;
}

}  // namespace mandate::bench
