// What a request costs: in the queue alone, and through a whole controller with an empty
// reconciler.
//   hack/bazel run -c opt --copt=-O2 //manager/controller:queue_benchmark
#include <benchmark/benchmark.h>

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/testing/fake_cache_view.h"
#include "manager/controller/controller.h"
#include "manager/controller/work_queue.h"
#include "manager/core/event_loop.h"
#include "manager/core/strings.h"
#include "manager/core/thread_pool.h"
#include "manager/object/kinds/coordination_v1.h"

namespace mandate {
namespace {

std::vector<Request> Requests(int64_t count) {
  std::vector<Request> requests;
  for (int64_t i = 0; i < count; ++i) requests.push_back({{"namespace", StrCat("object-", i)}});
  return requests;
}

// Per item: added, handed out, done.
void BM_AddGetDone(benchmark::State& state) {
  const std::vector<Request> requests = Requests(state.range(0));
  const Clock& clock = Clock::Real();
  WorkQueue queue({});
  for (auto _ : state) {
    for (const Request& request : requests) queue.Add(request, {}, clock.TimeNow());
    const WorkItem* item = queue.Get(clock.TimeNow());
    while (item != nullptr) item = queue.DoneAndGet(*item, {}, clock.TimeNow());
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}
BENCHMARK(BM_AddGetDone)->Arg(1000)->Arg(100'000);

// Per item: added, of which all but the first round are duplicates.
void BM_AddOnly(benchmark::State& state) {
  const std::vector<Request> requests = Requests(1000);
  const Clock& clock = Clock::Real();
  WorkQueue queue({});
  for (auto _ : state) {
    for (const Request& request : requests) queue.Add(request, {}, clock.TimeNow());
  }
  state.SetItemsProcessed(state.iterations() * 1000);
}
BENCHMARK(BM_AddOnly);

class Counting : public Reconciler {
 public:
  Counting(int64_t count, Latch& all) : left_(count), all_(all) {}
  absl::StatusOr<Result> Reconcile(const CallContext&, const Request&) override {
    if (--left_ == 0) all_.Set();
    return Result{};
  }

 private:
  std::atomic<int64_t> left_;
  Latch& all_;
};

// Per item: from the event of the initial list to the end of its reconciliation.
void BM_EmptyReconcile(benchmark::State& state) {
  constexpr int64_t kObjects = 100'000;
  const auto workers = static_cast<int>(state.range(0));
  std::unique_ptr<EventLoop> loop = *EventLoop::Create();
  ThreadPool pool(workers);
  FakeCacheView cache(*loop);
  for (int64_t i = 0; i < kObjects; ++i) {
    const std::string json =
        StrCat(R"({"metadata":{"namespace":"ns","name":"o)", i, R"(","resourceVersion":"1"}})");
    cache.Put(KindOf<coordinationv1::Lease>::value, *ParseRawObject(json, Encoding::kJson));
  }
  for (auto _ : state) {
    Latch all;
    Metrics metrics;
    auto controller = *Controller::Create(
        {.name = "empty",
         .runtime = {"bench", *loop, pool, cache, metrics, Logger(), 1},
         .sources = {{{KindOf<coordinationv1::Lease>::value, "", ""}, EnqueueObject(), {}}},
         .reconciler = std::make_unique<Counting>(kObjects, all),
         .controller = {.max_concurrent_reconciles = workers}});
    controller->Start();
    all.Wait();
    if (!controller->Stop(absl::InfiniteFuture()).ok()) state.SkipWithError("did not stop");
  }
  state.SetItemsProcessed(state.iterations() * kObjects);
  loop->Stop();
}
BENCHMARK(BM_EmptyReconcile)->Arg(1)->Arg(8)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace mandate

BENCHMARK_MAIN();
