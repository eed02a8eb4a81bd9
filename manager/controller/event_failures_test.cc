// The recorder, and events that the server rejects.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "manager/controller/testing/event_recorder_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

TEST_F(RestEventRecorderTest, RetriesAServerThatIsDown) {
  Answer(503);
  Record("one");
  Record("two");
  loop_.RunFor(absl::Seconds(20));
  EXPECT_GT(requests_.size(), 2u);
  requests_.clear();
  Answer(201);
  loop_.RunFor(absl::Minutes(1));
  ASSERT_EQ(requests_.size(), 2u);
  EXPECT_NE(Decode(requests_[0]).note(), Decode(requests_[1]).note());
  EXPECT_EQ(log_->lines().size(), 0u);
}

// An admission webhook that fails for the events of one namespace must not silence the component.
TEST_F(RestEventRecorderTest, ARefusedEventDoesNotHoldUpTheOthers) {
  for (const absl::Status& failure :
       {StatusFromResponse(500, "failed calling webhook"), absl::DeadlineExceededError("slow"),
        DeniedByWebhook(429), DeniedByWebhook(503)}) {
    SCOPED_TRACE(failure.ToString());
    Start();
    RefuseBad(failure);
    RecordMany(8, In("bad"));
    RecordMany(8, In("good"));
    const double before = Count("created");
    loop_.RunFor(absl::Milliseconds(100));
    EXPECT_EQ(Count("created"), before + 8);
    // Each event is retried.
    Answer(201);
    loop_.RunFor(absl::Seconds(2));
    EXPECT_EQ(Count("created"), before + 16);
    EXPECT_EQ(Count("failed"), 0);
  }
}

TEST_F(RestEventRecorderTest, EventsWithoutAResponseHoldUpOnlyTheirFlow) {
  std::vector<FakeRestClient::Reply> hanging;
  HandleBad([&](const FakeRestClient::Reply& reply) { hanging.push_back(reply); });
  for (int ns = 0; ns < 5; ++ns) RecordMany(20, In(StrCat("bad", ns)));
  RecordMany(20, In("good"));
  loop_.RunFor(absl::Seconds(6));
  EXPECT_EQ(Count("created"), 20);
  EXPECT_LE(hanging.size(), 10u) << "one or two of each flow";
  for (int i = 0; i < 20; ++i) {
    Record(StrCat("more ", i), In("good"));
    loop_.RunFor(absl::Milliseconds(100));
  }
  EXPECT_EQ(Count("created"), 40) << "at once";
  for (int round = 0; round < 20; ++round) {
    for (const FakeRestClient::Reply& reply : std::exchange(hanging, {})) {
      reply(FakeRestClient::Json(201, ""));
    }
    loop_.RunFor(absl::Seconds(2));
  }
  EXPECT_EQ(Count("created"), 140);
}

TEST_F(RestEventRecorderTest, ASlowRequestIsCountedOnce) {
  options_.max_slow = 2;
  FakeRestClient::Reply reply;
  client_.HandleLate([&](const RestRequest&, const auto& its) { reply = its; });
  Record();
  loop_.RunFor(absl::Seconds(2));
  reply(FakeRestClient::Json(201, ""));
  Answer(200);
  Record();
  EXPECT_EQ(Take().size(), 1u) << "of the same series, and not slow";
  Record("another");
  EXPECT_EQ(Take().size(), 1u);
}

TEST_F(RestEventRecorderTest, SlowRequestsAreBounded) {
  options_.max_slow = 6;
  size_t asked = 0;
  client_.HandleLate([&](const RestRequest&, const FakeRestClient::Reply&) { ++asked; });
  for (int ns = 0; ns < 20; ++ns) Record("x", In(StrCat("ns", ns)));
  loop_.RunFor(absl::Minutes(1));
  EXPECT_GE(asked, 6u);
  EXPECT_LE(asked, 6u + 4u);
}

// Requests without a response fill the queue, but other flows keep their share of it.
TEST_F(RestEventRecorderTest, EventsAreDroppedFromTheLongestFlow) {
  options_.max_queue = 10;
  HandleBad([](const FakeRestClient::Reply&) {});
  RecordMany(10, In("bad"));
  loop_.RunFor(absl::Seconds(3));
  for (int i = 0; i < 3; ++i) Record(StrCat("good ", i));
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(Count("created"), 3);
  EXPECT_EQ(Count("dropped"), 3);
}

TEST_F(RestEventRecorderTest, ADenialAmongOthersIsLoggedOnce) {
  RefuseBad(StatusFromResponse(422, "denied"));
  for (int i = 0; i < 30; ++i) {
    Record(std::to_string(i), In("bad"));
    Record(std::to_string(i));
    loop_.RunFor(absl::Seconds(1));
  }
  EXPECT_EQ(Count("failed"), 30);
  EXPECT_EQ(log_->Count("Cannot record events"), 1);
  loop_.RunFor(absl::Minutes(6));
  Record("again", In("bad"));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(log_->Count("Cannot record events"), 2);
}

TEST_F(RestEventRecorderTest, RefusedEventsTakeNoRoomFromOthers) {
  options_.max_queue = 10;
  Answer(500);
  RecordMany(10);
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(requests_.size(), 10u);
  Answer(201);
  Record("another");
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(Count("created"), 1);
  EXPECT_EQ(Count("dropped"), 0);
}

// They do not take the places of remembered series, either.
TEST_F(RestEventRecorderTest, ManyRefusedEventsTakeNoRoomFromOthers) {
  options_.max_series = 10;
  RefuseBad(StatusFromResponse(500, "failed calling webhook"));
  for (int i = 0; i < 20; ++i) {
    Record(std::to_string(i), In("bad"));
    loop_.RunFor(absl::Milliseconds(10));
  }
  for (int i = 0; i < 5; ++i) {
    Record(StrCat("good ", i));
    loop_.RunFor(absl::Milliseconds(10));
  }
  EXPECT_EQ(Count("created"), 5);
}

// A webhook hangs for all of a namespace's events, whatever their reasons.
TEST_F(RestEventRecorderTest, ManyFlowsThatHangLeavePlacesForOthers) {
  std::vector<std::unique_ptr<Loop::Timer>> timers;
  HandleBad([&](const FakeRestClient::Reply& reply) {
    timers.push_back(loop_.RunAt(loop_.clock().TimeNow() + absl::Seconds(10),
                                 [reply] { reply(absl::DeadlineExceededError("slow")); }));
  });
  const ObjectRef bad = In("bad");
  for (int reason = 0; reason < 12; ++reason) {
    for (int i = 0; i < 20; ++i) {
      recorder().Record(bad, EventType::kNormal, StrCat("Reason", reason), "Act",
                        std::to_string(i));
    }
  }
  loop_.RunFor(absl::Seconds(30));
  for (int i = 0; i < 20; ++i) {
    Record(StrCat("good ", i));
    loop_.RunFor(absl::Seconds(2));
    EXPECT_EQ(Count("created"), i + 1);
  }
}

TEST_F(RestEventRecorderTest, SendsOneEventAtATimeToAServerThatIsDown) {
  Answer(503);
  RecordMany(100);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_LE(requests_.size(), 4u + 6u);  // those that were in flight, and then 0.8 s, 1.6 s, …
  EXPECT_GE(requests_.size(), 4u + 4u);
  Answer(201);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Count("created"), 100);
  // The server has answered since, so the next failure is retried soon.
  Answer(503);
  requests_.clear();
  Record("later");
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(requests_.size(), 2u);
}

// The error concerns this event alone, so the others need not be sent one at a time.
TEST_F(RestEventRecorderTest, AnInternalErrorEndsThePause) {
  Answer(503);
  Record("one");
  loop_.RunFor(absl::Seconds(10));
  Answer(500);
  loop_.RunFor(absl::Seconds(20));
  size_t asked = 0;
  client_.HandleLate([&](const RestRequest&, const FakeRestClient::Reply&) { ++asked; });
  for (int i = 0; i < 4; ++i) Record(StrCat("other ", i));
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(asked, 4u);
}

// The events fail one by one, and the pauses still grow.
TEST_F(RestEventRecorderTest, RetriesAServerThatStaysDownMoreSlowly) {
  options_.max_tries = 2;
  Answer(503);
  RecordMany(10);
  loop_.RunFor(absl::Minutes(5));
  EXPECT_GT(Count("failed"), 0);
  EXPECT_LT(Count("failed"), 10) << "a pause is 30 s at least by then";
}

TEST_F(RestEventRecorderTest, RetryAfterIsWaitedFor) {
  for (const int code : {429, 500}) {
    SCOPED_TRACE(code);
    Start();
    Serve([code](const RestRequest&) -> absl::StatusOr<HttpResponse> {
      return StatusFromResponse(code, "", absl::Seconds(20));
    });
    requests_.clear();
    Record();
    loop_.RunFor(absl::Seconds(19));
    EXPECT_EQ(requests_.size(), 1u);
    loop_.RunFor(absl::Seconds(2));
    EXPECT_EQ(requests_.size(), 2u);
  }
}

// Several requests are in flight when the server asks to wait; the latest time counts.
TEST_F(RestEventRecorderTest, TheLongestRetryAfterOfSeveralIsWaitedFor) {
  for (const bool longest_first : {false, true}) {
    SCOPED_TRACE(longest_first);
    Start();
    std::vector<FakeRestClient::Reply> replies;
    client_.HandleLate([&](const RestRequest&, const auto& reply) { replies.push_back(reply); });
    for (int i = 0; i < 3; ++i) Record(StrCat(longest_first, i));
    loop_.RunFor(absl::Milliseconds(100));
    ASSERT_EQ(replies.size(), 3u);
    const std::vector<FakeRestClient::Reply> first = std::exchange(replies, {});
    first[longest_first ? 2 : 0](StatusFromResponse(503, ""));
    first[1](StatusFromResponse(429, "", absl::Seconds(20)));
    first[longest_first ? 0 : 2](StatusFromResponse(429, "", absl::Seconds(5)));
    loop_.RunFor(absl::Milliseconds(19'900));
    EXPECT_EQ(replies.size(), 0u);
    loop_.RunFor(absl::Milliseconds(200));
    EXPECT_EQ(replies.size(), 1u) << "to see whether it is there";
  }
}

// Failures of the server, and failures of the event itself.
TEST_F(RestEventRecorderTest, TriesAreBoundedAfterEachError) {
  options_.max_tries = 3;
  for (const int code : {503, 500}) {
    SCOPED_TRACE(code);
    Start();
    Answer(code);
    requests_.clear();
    const double failed = Count("failed");
    Record();
    loop_.RunFor(absl::Hours(1));
    EXPECT_EQ(requests_.size(), 3u);
    EXPECT_EQ(Count("failed"), failed + 1);
    EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
  }
}

TEST_F(RestEventRecorderTest, EachRequestOfASeriesHasItsOwnTries) {
  options_.max_tries = 3;
  for (int i = 0; i < 3; ++i) {
    SCOPED_TRACE(i);
    Answer(500);
    Record();
    EXPECT_TRUE(loop_.RunUntil([&] { return requests_.size() == 1; }, absl::Minutes(1)));
    EXPECT_TRUE(loop_.RunUntil([&] { return requests_.size() == 2; }, absl::Seconds(2)))
        << "soon, as after a first failure";
    Answer(201);
    loop_.RunFor(absl::Minutes(1));
    requests_.clear();
  }
  EXPECT_EQ(Count("created"), 1);
  EXPECT_EQ(Count("updated"), 2);
  EXPECT_EQ(Count("failed"), 0);
}

TEST_F(RestEventRecorderTest, ARejectedEventIsLoggedOnceAndAffectsNoOther) {
  Answer(403);
  RecordMany(5);
  EXPECT_EQ(Take().size(), 5u);
  EXPECT_EQ(log_->Count("Cannot record events; the component needs create and patch"), 1);
  EXPECT_EQ(Count("failed"), 5);
  Answer(201);
  Record("again");
  EXPECT_EQ(Take().size(), 1u);
  EXPECT_EQ(Count("created"), 1);
}

// A missing permission is not the reason, so the log does not name one.
TEST_F(RestEventRecorderTest, AnInvalidEventIsNotCalledAMissingPermission) {
  Answer(422);
  Record();
  EXPECT_EQ(Take().size(), 1u);
  EXPECT_EQ(log_->Count("Cannot record events"), 1);
  EXPECT_EQ(log_->Count("the component needs"), 0);
  EXPECT_EQ(Count("failed"), 1);
}

}  // namespace
}  // namespace mandate
