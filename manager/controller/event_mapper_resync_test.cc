// Passes over all objects, and requests that wait for room in the queue.
#include <gtest/gtest.h>

#include "manager/controller/testing/event_mapper_fixture.h"

namespace mandate {
namespace {

TEST_F(EventMapperTest, AResyncMapsEveryObjectOfEverySource) {
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
  ResyncAndRun();
  EXPECT_EQ(TakeMapped(), (Names{"news", "a", "b", "y"}));
  EXPECT_EQ(TakeQueued(), (Names{"news", "a", "b", "y"}));
  RunSlices();
  EXPECT_EQ(TakeMapped(), Names{}) << "once";
}

TEST_F(EventMapperTest, AnotherResyncBeginsAnew) {
  Create({Of(kThing, [this, again = false](const ObjectEvent& event) mutable {
    if (event.object->name() == "b" && !std::exchange(again, true)) (void)mapper_->Resync();
  })});
  Put(kThing, {"a", "b", "c"});
  ResyncAndRun();
  EXPECT_EQ(TakeMapped(), (Names{"a", "b", "a", "b", "c"}));
}

TEST_F(EventMapperTest, ANewEventGoesBeforeTheRestOfAResync) {
  Create({Of(kThing, [this](const ObjectEvent& event) {
    if (event.object->name() == "a") (void)mapper_->OnEvent(0, Added(Thing("news")));
  })});
  Put(kThing, {"a", "b"});
  ResyncAndRun();
  EXPECT_EQ(TakeMapped(), (Names{"a", "news", "b"}));
  EXPECT_EQ(TakeQueued(), (Names{"news", "a", "b"})) << "a resync has the low priority";
}

// No event reports that one of these was deleted meanwhile.
TEST_F(EventMapperTest, APassRequestsPurgedObjectsOnceTheSourceIsSyncedAgain) {
  Create({Of(kThing), Of(kOther)}, /*max_requests=*/2);
  Put(kThing, {"b"});
  (void)mapper_->OnPurged(0, {Thing("a"), Thing("b"), Thing("c")});
  RunSlices();
  EXPECT_EQ(TakeMapped(), (Names{"c", "b", "a"})) << "while their content is known";
  EXPECT_EQ(TakeQueued(), Names{});
  (void)mapper_->OnListed(1);
  ResyncAndRun();
  EXPECT_EQ(TakeQueued(), Names{"b"}) << "that was another source";
  (void)mapper_->OnListed(0);
  ResyncAndRun();
  EXPECT_EQ(TakeRefilled(), (std::set<std::string>{"a", "b", "c"}));
  (void)mapper_->OnListed(0);
  ResyncAndRun();
  EXPECT_EQ(TakeQueued(), Names{"b"}) << "once";
}

// The controller calls OnQueueHasRoom() when the queue has room again.
TEST_F(EventMapperTest, ARefusedRequestIsQueuedWhenThereIsRoom) {
  Create({Of(kThing)}, /*max_requests=*/8);
  Names all;
  for (int i = 0; i < 30; ++i) all.push_back(StrCat("a", 10 + i));
  Put(kThing, all);
  EXPECT_TRUE(mapper_->OnQueueHasRoom());
  RunSlices();
  EXPECT_EQ(TakeMapped(), Names{}) << "nothing was refused";
  AddAllAndRun(all);
  EXPECT_TRUE(mapper_->refilling());
  EXPECT_EQ(log_->Count("Work queue is full"), 1);
  TakeMapped();
  EXPECT_EQ(TakeRefilled(), std::set<std::string>(all.begin(), all.end()));
  EXPECT_EQ(TakeMapped(), all) << "each once";
  EXPECT_EQ(log_->Count("Work queue is full"), 1) << "until it has taken everything";
  EXPECT_EQ(log_->Count("Work queue has capacity again"), 1);
  RunSlices();
  EXPECT_EQ(TakeMapped(), Names{});
}

// One event may map to more requests than the queue holds.
TEST_F(EventMapperTest, TheRequestsOfOneEventWaitForRoomToo) {
  Names all;
  for (int i = 0; i < 30; ++i) all.push_back(StrCat("a", 10 + i));
  Source source = Of(kThing);
  source.handler = [&](const ObjectEvent&, std::vector<Request>& requests) {
    for (const std::string& name : all) requests.push_back({{"", name}});
    return absl::OkStatus();
  };
  Create({source}, /*max_requests=*/8);
  Put(kThing, {"one"});
  AddAllAndRun({"one"});
  EXPECT_EQ(TakeRefilled(), std::set<std::string>(all.begin(), all.end()));
}

// The controller calls OnQueueHasRoom() by a timer, and may not know yet that the pass has filled
// the queue.
TEST_F(EventMapperTest, APassWaitsForRoomAtEachRefusal) {
  Create({Of(kThing,
             [this](const ObjectEvent&) {
               if (mapper_->refilling()) (void)mapper_->OnQueueHasRoom();
             })},
         /*max_requests=*/2);
  const Names all = {"a", "b", "c", "d"};
  Put(kThing, all);
  AddAllAndRun(all);
  BeginRefill();
  EXPECT_TRUE(mapper_->refilling());
}

TEST_F(EventMapperTest, AResyncDoesNotRestartAPassThatWaitsForRoom) {
  Create({Of(kThing)}, /*max_requests=*/2);
  Put(kThing, {"a", "b", "c"});
  AddAllAndRun({"a", "b", "c"});
  BeginRefill();
  ResyncAndRun();
  EXPECT_EQ(TakeMapped(), Names{});
  EXPECT_EQ(TakeQueued(), (Names{"a", "b"}));
  RefillAndRun();
  EXPECT_EQ(TakeMapped(), (Names{"a", "b"})) << "the resync, after the pass";
  EXPECT_EQ(TakeQueued(), (Names{"c", "a"}));
  EXPECT_TRUE(mapper_->refilling()) << "b is refused";
}

// The running pass may already be past the objects of the event.
TEST_F(EventMapperTest, AnEventThatIsRefusedDuringAPassIsFollowedByAnother) {
  Create({Of(kThing)}, /*max_requests=*/2);
  Put(kThing, {"a", "b", "c"});
  ResyncAndRun();
  EXPECT_EQ(TakeMapped(), (Names{"a", "b", "c"})) << "c is refused";
  Put(kThing, {"0"});
  AddAllAndRun({"0"});
  EXPECT_EQ(TakeRefilled(), (std::set<std::string>{"0", "a", "b", "c"}));
}

}  // namespace
}  // namespace mandate
