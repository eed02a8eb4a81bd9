// What is mapped again, and what waits for room in the queue.
#include <gtest/gtest.h>

#include "manager/controller/testing/event_mapper_fixture.h"

namespace mandate {
namespace {

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

}  // namespace
}  // namespace mandate
