// A reflector after a failure: how long it waits, and whether it then lists or watches. A test that
// exists in client-go has the same name.
#include <gtest/gtest.h>

#include <memory>

#include "manager/cache/reflector.h"
#include "manager/cache/testing/reflector_fixture.h"

namespace mandate {
namespace {

class ReflectorRetryTest : public ReflectorFixture {};

TEST_F(ReflectorRetryTest, VeryShortWatch) {
  StartSynced(10);
  CloseAfterTwoSeconds();
  LastWatch().Open();
  Close();
  EXPECT_EQ(state(), DemandState::kStale);
  EXPECT_GE(TimeToRequest(), absl::Milliseconds(800));
  EXPECT_EQ(lists(), 2u) << "listed again, after a wait";
}

TEST_F(ReflectorRetryTest, ShortWatchesWithEventsDoNotSpin) {
  options_.max_consecutive_short_watches = 5;
  StartSynced(10);
  client_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
    watch->Open();
    watch->Send(BookmarkJson("11"));
    watch->Close();
  });
  LastWatch().Send(BookmarkJson("11"));
  LastWatch().Close();
  loop_.RunFor(absl::Seconds(60));
  EXPECT_LT(watches(), 20u);
  EXPECT_EQ(lists(), 1u);
}

TEST_F(ReflectorRetryTest, ListAndWatchInitConnBackoff) {
  client_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
    watch->Close(absl::UnavailableError("connection refused"));
  });
  Start();
  ExpectWaits({0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30}, /*jitter=*/1);
  EXPECT_EQ(client_.Count("sendInitialEvents=true"), 9u);
  EXPECT_EQ(lists(), 0u);
  EXPECT_EQ(state(), DemandState::kPending);
}

TEST_F(ReflectorRetryTest, BackoffStartsAnewAfterTwoQuietMinutes) {
  options_.backoff.initial = absl::Seconds(2);
  StartSynced(10);
  const auto fail = [this] {
    Close();
    Close(absl::UnavailableError("connection refused"));
    const absl::Duration wait = TimeToRequest();
    LastWatch().Open();
    loop_.RunFor(absl::Seconds(2));
    return wait;
  };
  loop_.RunFor(absl::Seconds(2));
  EXPECT_LT(fail(), absl::Seconds(4));
  EXPECT_GE(fail(), absl::Seconds(4));
  EXPECT_GE(fail(), absl::Seconds(8))
      << "a success that is shorter than the delay does not reset it";
  loop_.RunFor(absl::Minutes(2));
  EXPECT_LT(fail(), absl::Seconds(4));
}

// Another watch was answered.
TEST_F(ReflectorRetryTest, TheEndOfAnOutageConcernsWhoHadNoAnswer) {
  options_.backoff.initial = absl::Seconds(20);
  options_.backoff.max = absl::Seconds(30);
  StartSynced(10);
  CloseAfterTwoSeconds();
  Close(absl::UnavailableError("connection refused"));
  reflector_->OnOutageEnd();
  EXPECT_LE(TimeToRequest(), absl::Seconds(1));
  Close(absl::UnavailableError("connection refused"));
  reflector_->OnOutageEnd();
  EXPECT_GE(TimeToRequest(), absl::Seconds(20)) << "it was woken a moment ago";

  Open();
  Send("nonsense\n");
  EXPECT_EQ(state(), DemandState::kStale);
  reflector_->OnOutageEnd();
  AddList(503, StatusJson(503, "ServiceUnavailable"));
  EXPECT_GE(NextRequest(), absl::Seconds(20)) << "what comes would be as invalid";
  reflector_->OnOutageEnd();
  EXPECT_GE(TimeToRequest(), absl::Seconds(20)) << "an answer";
}

TEST_F(ReflectorRetryTest, BackoffOnTooManyRequests) {
  StartSynced(10);
  CloseAfterTwoSeconds();
  Refuse(429, StatusJson(429, "TooManyRequests"));
  EXPECT_EQ(state(), DemandState::kStale);
  const absl::Duration wait = TimeToRequest();
  EXPECT_GE(wait, absl::Milliseconds(800));
  EXPECT_LT(wait, absl::Milliseconds(1600));
  EXPECT_EQ(LastQuery("watch"), "true");
  EXPECT_EQ(LastQuery("resourceVersion"), "10");
  EXPECT_EQ(lists(), 1u) << "no list";
}

TEST_F(ReflectorRetryTest, NoRelistOnTooManyRequests) {
  StartSynced(10);
  Send(EventJson("ADDED", WidgetJson("a/x", 11)) + ErrorJson(429, "TooManyRequests"));
  EXPECT_EQ(state(), DemandState::kStale);
  EXPECT_GE(TimeToRequest(), absl::Milliseconds(800));
  EXPECT_EQ(LastQuery("watch"), "true");
  EXPECT_EQ(LastQuery("resourceVersion"), "11");
  EXPECT_EQ(lists(), 1u);
}

TEST_F(ReflectorRetryTest, RetryAfterIsObeyed) {
  StartSynced(10);
  Send(EventJson("ERROR", R"({"kind":"Status","code":429,"reason":"TooManyRequests",)"
                          R"("details":{"retryAfterSeconds":17}})"));
  EXPECT_GE(TimeToRequest(), absl::Seconds(17));
}

TEST_F(ReflectorRetryTest, AfterTheEndOfAWatch) {
  struct Row {
    const char* name;
    bool at_start;
    int code;
    const char* reason;
    bool relists;
    DemandState state;
  };
  const Row rows[] = {
      {"410 at start", true, 410, "Expired", true, DemandState::kStale},
      {"410 in the stream", false, 410, "Gone", true, DemandState::kStale},
      {"500 at start", true, 500, "InternalError", true, DemandState::kStale},
      {"500 in the stream", false, 500, "InternalError", true, DemandState::kStale},
      {"503 at start", true, 503, "ServiceUnavailable", true, DemandState::kStale},
      {"401 at start", true, 401, "Unauthorized", false, DemandState::kStale},
      {"403 at start", true, 403, "Forbidden", true, DemandState::kForbidden},
      {"404 at start", true, 404, "NotFound", true, DemandState::kStale},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    StartSynced(10, {WidgetJson("a/x", 5)});
    TakeEvents();
    const size_t before = lists();
    if (row.at_start) {
      CloseAfterTwoSeconds();
      Refuse(row.code, StatusJson(row.code, row.reason));
    } else {
      Send(ErrorJson(row.code, row.reason));
    }
    EXPECT_EQ(state(), row.state);
    EXPECT_EQ(TakeEvents(), "") << "nothing is known to be gone";
    EXPECT_EQ(store_.size(), 1u);
    EXPECT_GE(TimeToRequest(), absl::Milliseconds(800));
    EXPECT_EQ(lists() - before, row.relists ? 1u : 0u);
    loop_.RunReady();
    Reset();
  }
}

}  // namespace
}  // namespace mandate
