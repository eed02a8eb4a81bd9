#include "manager/controller/event_mapper.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/testing/fake_cache_view.h"
#include "manager/controller/testing/objects.h"
#include "manager/core/strings.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using Names = std::vector<std::string>;

constexpr KindInfo kThing = {
    .group = "example.com", .version = "v1", .kind = "Thing", .plural = "things"};
constexpr KindInfo kOther = {
    .group = "example.com", .version = "v1", .kind = "Other", .plural = "others"};

std::shared_ptr<const RawObject> Thing(const std::string& name, int version = 1) {
  return RawWith(StrCat(R"("namespace":"default","name":")", name, R"(","resourceVersion":")",
                        version, R"(")"));
}

// Counts what is posted, and runs nothing of it.
class CountingPool : public Executor {
 public:
  void Post(Task task) override { tasks_.push_back(std::move(task)); }
  size_t posted() const { return tasks_.size(); }

 private:
  std::vector<Task> tasks_;
};

// A mapper with a queue whose workers never come, so that it holds what was enqueued.
class EventMapperTest : public testing::Test {
 protected:
  EventMapperTest() { cache_.AllowReadsWithoutDemand(); }

  void Create(std::vector<Source> sources, size_t max_requests = 1000) {
    queue_ = std::make_unique<WorkQueue>(WorkQueue::Options{.max_items = max_requests});
    workers_ = std::make_unique<Workers>(Workers::Options{.max = 3,
                                                          .queue = queue_.get(),
                                                          .runner = nullptr,
                                                          .pool = &pool_,
                                                          .clock = &clock_,
                                                          .on_requeue = [] {},
                                                          .on_left = [] {}});
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
  // Runs slices while there are more; how many there were.
  int RunSlices() {
    int slices = 1;
    while (mapper_->RunSlice().more) ++slices;
    return slices;
  }
  Names TakeMapped() { return std::exchange(mapped_, {}); }
  // What the queue hands out, in its order.
  Names TakeQueued() {
    Names names;
    while (const WorkItem* item = queue_->Get(clock_.TimeNow())) {
      names.push_back(item->request().key.name);
      queue_->Done(*item, {}, clock_.TimeNow());
    }
    return names;
  }

  SimulatedLoop loop_;
  SimulatedClock& clock_ = loop_.simulated_clock();
  FakeCacheView cache_{loop_};
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

TEST_F(EventMapperTest, TheStrandIsWokenOnceForAllThatWaits) {
  Create({Of(kThing)});
  EXPECT_FALSE(mapper_->busy());
  EXPECT_TRUE(mapper_->OnEvent(0, Added(Thing("a"))));
  EXPECT_FALSE(mapper_->OnEvent(0, Added(Thing("b"))));
  EXPECT_FALSE(mapper_->OnListed(0));
  EXPECT_FALSE(mapper_->Replay());
  EXPECT_FALSE(mapper_->Refill());
  EXPECT_TRUE(mapper_->busy());
  EXPECT_EQ(mapper_->waiting(), 3u);
  RunSlices();
  EXPECT_EQ(TakeMapped(), (Names{"a", "b"}));
  EXPECT_FALSE(mapper_->busy());
  EXPECT_EQ(mapper_->waiting(), 0u);
  EXPECT_TRUE(mapper_->OnListed(0));
  RunSlices();
  EXPECT_TRUE(mapper_->Replay());
  RunSlices();
  EXPECT_TRUE(mapper_->Refill());
}

TEST_F(EventMapperTest, ASliceEndsAfterAMillisecond) {
  Create({Of(kThing, [this](const ObjectEvent&) {
    EXPECT_TRUE(mapper_->mapping());
    clock_.AdvanceTo(clock_.TimeNow() + absl::Microseconds(600));
  })});
  for (const char* name : {"a", "b", "c"}) (void)mapper_->OnEvent(0, Added(Thing(name)));
  EXPECT_TRUE(mapper_->RunSlice().more);
  EXPECT_EQ(TakeMapped(), (Names{"a", "b"}));
  EXPECT_FALSE(mapper_->mapping());
  EXPECT_TRUE(mapper_->busy());
  EXPECT_FALSE(mapper_->RunSlice().more);
  EXPECT_EQ(TakeMapped(), Names{"c"});
}

TEST_F(EventMapperTest, ASliceEndsAfterSoManyEvents) {
  Create({Of(kThing)});
  for (int i = 0; i < 300; ++i) (void)mapper_->OnEvent(0, Added(Thing(StrCat("a", i))));
  EXPECT_TRUE(mapper_->RunSlice().more);
  EXPECT_EQ(TakeMapped().size(), 256u);
  EXPECT_FALSE(mapper_->RunSlice().more);
  EXPECT_EQ(TakeMapped().size(), 44u);
}

TEST_F(EventMapperTest, WhatComesDuringASliceIsSeenByIt) {
  Create({Of(kThing, [this](const ObjectEvent& event) {
    if (event.object->name() == "a") {
      EXPECT_FALSE(mapper_->OnEvent(0, Added(Thing("b"))));
    }
  })});
  (void)mapper_->OnEvent(0, Added(Thing("a")));
  EXPECT_FALSE(mapper_->RunSlice().more);
  EXPECT_EQ(TakeMapped(), (Names{"a", "b"}));
}

TEST_F(EventMapperTest, SaysOnceThatEveryInitialListIsMapped) {
  Create({Of(kThing), Of(kOther)});
  (void)mapper_->OnListed(0);
  (void)mapper_->OnListed(0);
  EXPECT_FALSE(mapper_->RunSlice().listed);
  (void)mapper_->OnEvent(1, Added(Thing("a"), /*initial=*/true));
  (void)mapper_->OnListed(1);
  EXPECT_TRUE(mapper_->RunSlice().listed);
  EXPECT_EQ(TakeMapped(), Names{"a"});
  (void)mapper_->OnListed(0);
  (void)mapper_->OnListed(1);
  EXPECT_FALSE(mapper_->RunSlice().listed);
}

TEST_F(EventMapperTest, NewsGoBeforeInitialListsAndResyncs) {
  Create({Of(kThing)});
  (void)mapper_->OnEvent(0, Added(Thing("initial"), /*initial=*/true));
  (void)mapper_->OnEvent(0, Updated(Thing("resync", 7), Thing("resync", 7)));
  (void)mapper_->OnEvent(0, Updated(Thing("update", 7), Thing("update", 8)));
  (void)mapper_->OnEvent(0, Added(Thing("added")));
  (void)mapper_->OnEvent(0, Deleted(Thing("deleted")));
  RunSlices();
  EXPECT_EQ(TakeQueued(), (Names{"update", "added", "deleted", "initial", "resync"}));
}

TEST_F(EventMapperTest, AsManyWorkersAreWokenAsThereAreRequests) {
  Create({Of(kThing)});
  (void)mapper_->OnEvent(0, Added(Thing("a")));
  RunSlices();
  EXPECT_EQ(pool_.posted(), 1u);
  (void)mapper_->OnEvent(0, Added(Thing("b")));
  (void)mapper_->OnEvent(0, Added(Thing("c")));
  RunSlices();
  EXPECT_EQ(pool_.posted(), 3u);
}

TEST_F(EventMapperTest, AsManyWorkersAreWokenAsOneEventHasRequests) {
  Create({{{kThing, "", ""},
           [](const ObjectEvent&, std::vector<Request>& requests) {
             for (const char* name : {"a", "b"}) requests.push_back({{"default", name}});
             return absl::OkStatus();
           },
           {}}});
  (void)mapper_->OnEvent(0, Added(Thing("of both")));
  RunSlices();
  EXPECT_EQ(pool_.posted(), 2u);
}

// The event with one request wakes the first worker, who is too few for those before it.
TEST_F(EventMapperTest, AsManyWorkersAreWokenAsEarlierEventsOfASliceHaveRequests) {
  Create({{{kThing, "", ""},
           [](const ObjectEvent& event, std::vector<Request>& requests) {
             requests.push_back({event.object->Key()});
             if (event.object->name() == "a") requests.push_back({{"default", "of a"}});
             return absl::OkStatus();
           },
           {}}});
  (void)mapper_->OnEvent(0, Added(Thing("a")));
  (void)mapper_->OnEvent(0, Added(Thing("b")));
  RunSlices();
  EXPECT_EQ(pool_.posted(), 3u);
}

TEST_F(EventMapperTest, AllPredicatesMustPass) {
  Source source = Of(kThing);
  source.predicates = {[](const ObjectEvent& event) { return event.object->name() != "a"; },
                       [](const ObjectEvent& event) { return event.object->name() != "b"; }};
  Create({source});
  for (const char* name : {"a", "b", "c"}) (void)mapper_->OnEvent(0, Added(Thing(name)));
  RunSlices();
  EXPECT_EQ(TakeQueued(), Names{"c"});
  EXPECT_EQ(metrics_.event_errors.Value(), 0);
}

TEST_F(EventMapperTest, WhatAHandlerThrowsConcernsOneEvent) {
  Create({Of(kThing, [](const ObjectEvent& event) {
    if (event.object->name() == "a") throw std::runtime_error("scripted");
    if (event.object->name() == "b") throw 7;
  })});
  for (const char* name : {"a", "b", "c"}) (void)mapper_->OnEvent(0, Added(Thing(name)));
  RunSlices();
  EXPECT_EQ(TakeQueued(), (Names{"a", "b", "c"})) << "what was appended counts";
  EXPECT_EQ(metrics_.event_errors.Value(), 2);
  EXPECT_EQ(log_->Count("threw: scripted"), 1);
  EXPECT_EQ(log_->Count("threw: an exception of unknown type"), 1);
}

TEST_F(EventMapperTest, AReplayMapsEveryObjectOfEverySource) {
  Source one = Of(kOther);
  one.demand.ns = "default";
  one.demand.name = "y";
  Source some = Of(kThing);
  some.demand.ns = "default";
  Create({some, one});
  Put(kThing, {"a", "b"});
  Put(kOther, {"x", "y", "z"});
  cache_.Put(kThing, RawWith(R"("namespace":"elsewhere","name":"q","resourceVersion":"1")"));
  (void)mapper_->OnEvent(0, Added(Thing("news")));
  (void)mapper_->Replay();
  RunSlices();
  EXPECT_EQ(TakeMapped(), (Names{"news", "a", "b", "y"}));
  EXPECT_EQ(TakeQueued(), (Names{"news", "a", "b", "y"}));
  RunSlices();
  EXPECT_EQ(TakeMapped(), Names{}) << "once";
}

TEST_F(EventMapperTest, AnotherReplayBeginsAnew) {
  Create({Of(kThing, [this, again = false](const ObjectEvent& event) mutable {
    if (event.object->name() == "b" && !std::exchange(again, true)) (void)mapper_->Replay();
  })});
  Put(kThing, {"a", "b", "c"});
  (void)mapper_->Replay();
  RunSlices();
  EXPECT_EQ(TakeMapped(), (Names{"a", "b", "a", "b", "c"}));
}

TEST_F(EventMapperTest, NewsGoBeforeTheRestOfAReplay) {
  Create({Of(kThing, [this](const ObjectEvent& event) {
    if (event.object->name() == "a") (void)mapper_->OnEvent(0, Added(Thing("news")));
  })});
  Put(kThing, {"a", "b"});
  (void)mapper_->Replay();
  RunSlices();
  EXPECT_EQ(TakeMapped(), (Names{"a", "news", "b"}));
}

// As the controller does: a part when the queue is empty again.
TEST_F(EventMapperTest, WhatAFullQueueRefusesComesInParts) {
  Create({Of(kThing)}, /*max_requests=*/8);
  Names all;
  for (int i = 0; i < 30; ++i) all.push_back(StrCat("a", 10 + i));
  Put(kThing, all);
  EXPECT_TRUE(mapper_->Refill());
  RunSlices();
  EXPECT_EQ(TakeMapped(), Names{}) << "nothing was refused";
  for (const std::string& name : all) (void)mapper_->OnEvent(0, Added(Thing(name)));
  RunSlices();
  EXPECT_TRUE(mapper_->refilling());
  EXPECT_EQ(log_->Count("Work queue is full"), 1);
  Names queued = TakeQueued();
  int parts = 0;
  while (mapper_->refilling()) {
    ASSERT_LT(++parts, 100);
    TakeMapped();
    EXPECT_TRUE(mapper_->Refill());
    RunSlices();
    EXPECT_EQ(TakeMapped().size(), mapper_->refilling() ? all.size() : 0u);
    for (std::string& name : TakeQueued()) queued.push_back(std::move(name));
  }
  EXPECT_EQ(std::set<std::string>(queued.begin(), queued.end()),
            std::set<std::string>(all.begin(), all.end()));
  EXPECT_EQ(log_->Count("Work queue is full"), 1) << "until it has taken everything";
  EXPECT_EQ(log_->Count("Work queue has room again"), 1);
}

// The controller asks for parts by the clock, and a part may take longer.
TEST_F(EventMapperTest, APartIsNotFollowedByAnotherBeforeThereIsRoom) {
  Create({Of(kThing,
             [this](const ObjectEvent&) {
               if (mapper_->refilling()) (void)mapper_->Refill();
             })},
         /*max_requests=*/2);
  const Names all = {"a", "b", "c", "d"};
  Put(kThing, all);
  for (const std::string& name : all) (void)mapper_->OnEvent(0, Added(Thing(name)));
  RunSlices();
  ASSERT_TRUE(mapper_->refilling());
  TakeQueued();
  TakeMapped();
  (void)mapper_->Refill();
  RunSlices();
  EXPECT_EQ(TakeMapped(), all) << "one part";
  EXPECT_TRUE(mapper_->refilling());
}

TEST_F(EventMapperTest, APartIsNotCutShortByAReplay) {
  bool replay = false;
  Create({Of(kThing,
             [&](const ObjectEvent&) {
               if (std::exchange(replay, false)) (void)mapper_->Replay();
             })},
         /*max_requests=*/2);
  Put(kThing, {"a", "b", "c"});
  for (const char* name : {"a", "b", "c"}) (void)mapper_->OnEvent(0, Added(Thing(name)));
  RunSlices();
  ASSERT_TRUE(mapper_->refilling());
  TakeQueued();
  TakeMapped();
  replay = true;
  (void)mapper_->Refill();
  RunSlices();
  EXPECT_EQ(TakeMapped(), (Names{"a", "b", "c", "a", "b", "c"}));
}

TEST_F(EventMapperTest, AReplayBetweenPartsIsOfEverything) {
  Create({Of(kThing)}, /*max_requests=*/8);
  const Names all = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
  Put(kThing, all);
  for (const std::string& name : all) (void)mapper_->OnEvent(0, Added(Thing(name)));
  RunSlices();
  TakeQueued();
  (void)mapper_->Refill();
  RunSlices();
  ASSERT_TRUE(mapper_->refilling());
  TakeQueued();
  (void)mapper_->Replay();
  RunSlices();
  EXPECT_EQ(TakeQueued().size(), 8u) << "as many as fit, not those of a part";
}

TEST_F(EventMapperTest, NothingIsMappedAfterItIsClosed) {
  Create({Of(kThing, [this](const ObjectEvent&) { mapper_->Close(); })});
  Put(kThing, {"a", "b"});
  (void)mapper_->OnEvent(0, Added(Thing("x")));
  (void)mapper_->OnEvent(0, Added(Thing("y")));
  (void)mapper_->Replay();
  EXPECT_FALSE(mapper_->RunSlice().more);
  EXPECT_EQ(TakeMapped(), Names{"x"});
  EXPECT_EQ(mapper_->waiting(), 0u);
  (void)mapper_->OnEvent(0, Added(Thing("z")));
  EXPECT_FALSE(mapper_->RunSlice().more);
  EXPECT_EQ(TakeMapped(), Names{});
}

TEST_F(EventMapperTest, WhatWaitsIsDroppedWhenItIsClosed) {
  Create({Of(kThing)});
  (void)mapper_->OnEvent(0, Added(Thing("x")));
  mapper_->Close();
  EXPECT_EQ(mapper_->waiting(), 0u);
}

}  // namespace
}  // namespace mandate
