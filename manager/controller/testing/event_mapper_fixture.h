// A mapper in virtual time, with a cache that the test fills.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/testing/fake_cache_view.h"
#include "manager/controller/event_mapper.h"
#include "manager/controller/testing/objects.h"
#include "manager/core/strings.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {

using Names = std::vector<std::string>;

inline constexpr KindInfo kThing = {
    .group = "example.com", .version = "v1", .kind = "Thing", .plural = "things"};
inline constexpr KindInfo kOther = {
    .group = "example.com", .version = "v1", .kind = "Other", .plural = "others"};

inline std::shared_ptr<const RawObject> Thing(const std::string& name, int version = 1) {
  return RawWith(StrCat(R"("namespace":"default","name":")", name, R"(","resourceVersion":")",
                        version, R"(")"));
}

// Counts the posted tasks without running them.
class CountingPool : public Executor {
 public:
  void Post(Task task) override { tasks_.push_back(std::move(task)); }
  size_t posted() const { return tasks_.size(); }

 private:
  std::vector<Task> tasks_;
};

// A mapper with a queue without workers, which keeps all enqueued requests.
class EventMapperTest : public testing::Test {
 protected:
  EventMapperTest() { loop_.RunReady(); }

  void Create(std::vector<Source> sources, size_t max_requests = 1000) {
    queue_ = std::make_unique<WorkQueue>(WorkQueue::Options{.max_items = max_requests});
    workers_ = std::make_unique<Workers>(Workers::Options{.max = 3,
                                                          .queue = queue_.get(),
                                                          .runner = nullptr,
                                                          .pool = &pool_,
                                                          .clock = &clock_,
                                                          .on_requeue = [] {}});
    workers_->Start(owner_);
    mapper_ = std::make_unique<EventMapper>(EventMapper::Options{.sources = std::move(sources),
                                                                 .cache = &cache_,
                                                                 .queue = queue_.get(),
                                                                 .workers = workers_.get(),
                                                                 .clock = &clock_,
                                                                 .metrics = &metrics_,
                                                                 .log = Logger(log_, clock_),
                                                                 .max_requests = max_requests,
                                                                 .max_events = 1000});
  }
  // A source that notes which objects its handler is asked about, and does `then`.
  Source Of(const KindInfo& kind, std::function<void(const ObjectEvent&)> then = nullptr) {
    return {{kind, "", ""},
            [this, then = std::move(then)](const ObjectEvent& event,
                                           std::vector<Request>& requests) -> absl::Status {
              mapped_.emplace_back(event.object->name());
              requests.push_back({event.object->Key()});
              if (then) then(event);
              return absl::OkStatus();
            },
            {}};
  }
  void Put(const KindInfo& kind, const Names& names) {
    for (const std::string& name : names) cache_.Put(kind, Thing(name));
  }
  void AddAll(const Names& names) {
    for (const std::string& name : names) (void)mapper_->OnEvent(0, Added(Thing(name)));
  }
  // Runs slices while there are more.
  void RunSlices() {
    while (mapper_->RunSlice().more) {
    }
  }
  void AddAllAndRun(const Names& names) {
    AddAll(names);
    RunSlices();
  }
  void ResyncAndRun() {
    (void)mapper_->Resync();
    RunSlices();
  }
  void RefillAndRun() {
    (void)mapper_->OnQueueHasRoom();
    RunSlices();
  }
  Names TakeMapped() { return std::exchange(mapped_, {}); }
  // The requests that the queue hands out, in order.
  Names TakeQueued() {
    Names names;
    while (const WorkItem* item = queue_->Get(clock_.TimeNow())) {
      names.push_back(item->request().key.name);
      queue_->Done(*item, {}, clock_.TimeNow());
    }
    return names;
  }
  // Begins the pass for refused requests, with room for two of a, b and c.
  void BeginRefill() {
    ASSERT_TRUE(mapper_->refilling());
    TakeQueued();
    TakeMapped();
    RefillAndRun();
    EXPECT_EQ(TakeMapped(), (Names{"a", "b", "c"})) << "c is refused";
  }
  // The requests that the queue hands out until no refused request is left. Each time it is emptied
  // first.
  std::set<std::string> TakeRefilled() {
    std::set<std::string> queued;
    for (int rounds = 0; rounds < 100; ++rounds) {
      for (std::string& name : TakeQueued()) queued.insert(std::move(name));
      if (!mapper_->refilling()) return queued;
      RefillAndRun();
    }
    ADD_FAILURE() << "refused requests are left";
    return queued;
  }

  SimulatedLoop loop_;
  SimulatedClock& clock_ = loop_.simulated_clock();
  FakeCacheView cache_{loop_};
  const std::unique_ptr<DemandHandle> things_ = cache_.Demand({kThing, "", ""}, nullptr);
  const std::unique_ptr<DemandHandle> others_ = cache_.Demand({kOther, "", ""}, nullptr);
  Metrics registry_;
  ControllerMetrics metrics_{registry_, "controller", "component"};
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  CountingPool pool_;
  const std::shared_ptr<int> owner_ = std::make_shared<int>();
  Names mapped_;
  std::unique_ptr<WorkQueue> queue_;
  std::unique_ptr<Workers> workers_;
  std::unique_ptr<EventMapper> mapper_;
};

}  // namespace mandate
