// A reflector whose client is denied access, has no identity, or is replaced.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

#include "manager/cache/testing/reflector_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

class ReflectorAccessTest : public ReflectorFixture {
 protected:
  double OpenWatches(const std::string& identity) {
    const Labels labels = {
        {"kind", "widgets.example.com"}, {"scope", "cluster"}, {"identity", identity}};
    return metrics_.Gauge("mandate_cache_watches", "", labels).Value();
  }
  void OnStatus(const DemandStatus& status) override {
    ReflectorFixture::OnStatus(status);
    if (status.failed && successor_ != nullptr) {
      reflector_->UseClient(*std::exchange(successor_, nullptr));
    }
  }

  // Then only a hint causes a request soon.
  void AskSlowly() { options_.forbidden_backoff.initial = absl::Seconds(30); }

  FakeRestClient* successor_ = nullptr;  // takes over at the next failure
};

TEST_F(ReflectorAccessTest, ForbiddenIsAskedAgainSlowly) {
  StartWithList(403, StatusJson(403, "Forbidden", "User x cannot list"), /*times=*/20);
  EXPECT_EQ(TakeStates(), "Forbidden");
  EXPECT_EQ(reflector_->status().reason.code(), absl::StatusCode::kPermissionDenied);
  ExpectWaits({1, 2, 4, 8, 16, 32, 48, 48}, /*jitter=*/0.2);
  EXPECT_EQ(TakeStates(), "") << "one report per transition";
}

TEST_F(ReflectorAccessTest, ADeniedStreamingListIsNotListed) {
  Start();
  Refuse(403, StatusJson(403, "Forbidden", "User x cannot watch"));
  EXPECT_EQ(TakeStates(), "Forbidden");
  EXPECT_EQ(lists(), 0u) << "reads need the right to watch, too";
}

// With many denied watches, each waits for the component's budget.
TEST_F(ReflectorAccessTest, ADeniedRequestWaitsForTheBudget) {
  std::vector<std::unique_ptr<ProbeBudget::Ticket>> others(20 + 5 * 30);
  for (auto& ticket : others) {
    ticket = probes_.Ask(
        client_.component(), {}, ProbeBudget::Urgency::kPeriodic, [&ticket] { ticket.reset(); },
        StrCat(kWidget.plural, ".", kWidget.group));
  }
  StartWithList(403, StatusJson(403, "Forbidden"), /*times=*/5);
  client_.ForgetRequests();
  loop_.RunFor(absl::Seconds(29));
  EXPECT_EQ(lists(), 0u);
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(lists(), 1u);
}

TEST_F(ReflectorAccessTest, GuardRefusalIsForbidden) {
  options_.watch_list = false;
  client_.Handle([](const RestRequest&) -> absl::StatusOr<HttpResponse> {
    return absl::PermissionDeniedError("the guard: add a marker");
  });
  Start();
  EXPECT_EQ(state(), DemandState::kForbidden);
}

TEST_F(ReflectorAccessTest, AfterAHintAForbiddenListIsRepeatedAtOnce) {
  AskSlowly();
  StartWithList(403, StatusJson(403, "Forbidden"));
  loop_.RunFor(absl::Seconds(5));
  AddList(200, ListJson("10", {WidgetJson("a/x", 5)}));
  reflector_->RetryNow();
  EXPECT_EQ(NextRequest(), absl::ZeroDuration());
  Open();
  EXPECT_EQ(TakeStates(), "Forbidden Synced");
}

TEST_F(ReflectorAccessTest, HintsAreBounded) {
  StartWithList(403, StatusJson(403, "Forbidden"), /*times=*/100);
  for (int i = 0; i < 100; ++i) {
    reflector_->RetryNow();
    loop_.RunFor(absl::Milliseconds(100));
  }
  EXPECT_LE(lists(), 12u) << "once a second";
  EXPECT_GE(lists(), 9u);
}

TEST_F(ReflectorAccessTest, AHintDuringARequestIsNotLost) {
  AskSlowly();
  StartWithList(403, StatusJson(403, "Forbidden"));
  loop_.RunFor(absl::Seconds(5));
  // The next answer is already on its way when the grant comes.
  AddList(403, StatusJson(403, "Forbidden"));
  reflector_->RetryNow();
  TimeToRequest();
  reflector_->RetryNow();
  loop_.RunReady();
  for (int i = 0; i < 2; ++i) AddList(403, StatusJson(403, "Forbidden"));
  EXPECT_LE(NextRequest(), absl::Seconds(1));
  EXPECT_GE(TimeToRequest(), absl::Seconds(30)) << "one hint, one soon";
}

// The answer to the watch is already on its way when the grant comes.
TEST_F(ReflectorAccessTest, AHintWhileAWatchOpensIsNotLost) {
  AskSlowly();
  StartWithList(200, ListJson("10", {}));
  ASSERT_EQ(watches(), 1u);
  reflector_->RetryNow();
  Refuse(403, StatusJson(403, "Forbidden"));
  EXPECT_LE(TimeToRequest(), absl::Seconds(1));
}

TEST_F(ReflectorAccessTest, HintsDoNotBreakABackoff) {
  client_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
    watch->Refuse(429, StatusJson(429, "TooManyRequests"));
  });
  Start();
  ExpectWaits({0.8, 1.6}, /*jitter=*/1);
  reflector_->RetryNow();
  EXPECT_GE(TimeToRequest(), absl::Seconds(3.2)) << "longer than retry_now_interval";
}

TEST_F(ReflectorAccessTest, IsForbiddenWithoutTheRightToWatch) {
  StartWithList(200, ListJson("10", {WidgetJson("a/x", 5)}));
  Refuse(403, StatusJson(403, "Forbidden", "User x cannot watch"));
  EXPECT_EQ(TakeStates(), "Forbidden") << "never synced: reads need both";
  EXPECT_EQ(accesses_, 0);
}

TEST_F(ReflectorAccessTest, AnAbsentKindIsWaitedFor) {
  StartWithList(404, "404 page not found\n", /*times=*/6);
  EXPECT_EQ(TakeStates(), "KindAbsent");
  EXPECT_THAT(std::string(reflector_->status().reason.message()),
              testing::AllOf(testing::HasSubstr("does not serve widgets of example.com/v1"),
                             testing::HasSubstr("apply its CustomResourceDefinition"),
                             testing::HasSubstr("404")));
  ExpectWaits({2, 4, 8, 16, 30}, /*jitter=*/0.2);
  AddList(200, ListJson("10", {}));
  reflector_->RetryNow();
  loop_.RunFor(absl::Seconds(1));
  Open();
  EXPECT_EQ(TakeStates(), "Synced");
}

// The API server gives this answer while a CustomResourceDefinition is deleted and created again.
TEST_F(ReflectorAccessTest, TheReasonNamesAKindThatComesAndGoes) {
  StartSynced(10, {WidgetJson("a/x", 5)});
  CloseAfterTwoSeconds();
  Refuse(404, "404 page not found\n");
  EXPECT_EQ(state(), DemandState::kStale);
  EXPECT_THAT(std::string(reflector_->status().reason.message()),
              testing::HasSubstr("does not serve widgets of example.com/v1; apply"));
  AddList(429, StatusJson(429, "TooManyRequests", "storage is (re)initializing"));
  NextRequest();
  EXPECT_THAT(std::string(reflector_->status().reason.message()),
              testing::HasSubstr("does not serve widgets of example.com/v1 yet"));
}

TEST_F(ReflectorAccessTest, AHintRestartsTheBackoffForAnAbsentKind) {
  StartWithList(404, "404 page not found\n", /*times=*/5);
  for (int i = 0; i < 3; ++i) NextRequest();
  loop_.RunFor(absl::Seconds(5));
  reflector_->RetryNow();
  EXPECT_EQ(NextRequest(), absl::ZeroDuration());
  EXPECT_LT(TimeToRequest(), absl::Seconds(2.4));
}

TEST_F(ReflectorAccessTest, AKindStaysAbsentUntilTheNextAnswer) {
  StartWithList(404, "404 page not found\n");
  client_.HandleLate([](const RestRequest&, const auto&) {});
  TimeToRequest();
  loop_.RunFor(options_.response_timeout);
  EXPECT_EQ(TakeStates(), "KindAbsent");
  EXPECT_EQ(failures_, 2) << "another client may get an answer";
}

TEST_F(ReflectorAccessTest, AKindThatGoesAwayIsNotADelete) {
  StartSynced(10, {WidgetJson("a/x", 5)});
  TakeEvents();
  AddList(404, "404 page not found\n");
  Send(ErrorJson(410, "Expired"));
  NextRequest();
  EXPECT_EQ(state(), DemandState::kKindAbsent);
  EXPECT_EQ(TakeEvents(), "");
  AddList(200, ListJson("20", {}));
  NextRequest();
  EXPECT_EQ(TakeEvents(), "-a/x@5");
}

TEST_F(ReflectorAccessTest, WaitsWithoutAnIdentity) {
  StartSynced(10, {WidgetJson("a/x", 5)});
  CloseAfterTwoSeconds();
  Close(absl::FailedPreconditionError("no ServiceAccount"));
  EXPECT_EQ(state(), DemandState::kStale);
  TimeToRequest();
  EXPECT_EQ(LastQuery("resourceVersion"), "10") << "the watch goes on where it was";
  Close(absl::UnauthenticatedError("401"));
  loop_.RunFor(absl::Milliseconds(500));
  reflector_->RetryNow();
  EXPECT_LE(TimeToRequest(), absl::Seconds(1)) << "a hint helps";
  Open();
  EXPECT_EQ(state(), DemandState::kSynced);
  EXPECT_EQ(lists(), 1u);
}

TEST_F(ReflectorAccessTest, ContinuesUnderAnotherIdentity) {
  FakeWatch& watch = StartSynced(10, {WidgetJson("a/x", 5)});
  TakeEvents();
  TakeStates();
  reflector_->UseClient(other_);
  EXPECT_EQ(Metric("mandate_cache_objects"), 1) << "before anything has changed";
  loop_.RunReady();
  EXPECT_TRUE(watch.cancelled());
  ASSERT_EQ(other_.watches().size(), 1u);
  EXPECT_EQ(other_.watches()[0]->Query("resourceVersion"), "10");
  other_.watches()[0]->Open();
  other_.watches()[0]->Send(EventJson("MODIFIED", WidgetJson("a/x", 12)));
  loop_.RunReady();
  EXPECT_EQ(TakeEvents(), "~a/x@12");
  EXPECT_EQ(TakeStates(), "") << "it has been synced all the time";
  EXPECT_EQ(OpenWatches("reader"), 0);
  EXPECT_EQ(OpenWatches("other"), 1);
}

TEST_F(ReflectorAccessTest, AnotherIdentityDoesNotUseAnExpiredVersion) {
  StartAndOpen();
  Send(EventJson("ADDED", WidgetJson("a/x", 5)) + BookmarkJson("10", true));
  Send(ErrorJson(410, "Expired"));
  TimeToRequest();
  Refuse(410, StatusJson(410, "Expired"));
  ASSERT_EQ(LastQuery("resourceVersion"), "") << "asks for any version";
  reflector_->UseClient(other_);
  loop_.RunReady();
  ASSERT_EQ(other_.watches().size(), 1u);
  EXPECT_EQ(other_.watches()[0]->Query("sendInitialEvents"), "true");
  EXPECT_EQ(other_.watches()[0]->Query("resourceVersion"), "");
}

TEST_F(ReflectorAccessTest, AHintCountsForOneIdentityOnly) {
  AskSlowly();
  options_.watch_list = false;
  other_.Handle(
      [](const RestRequest&) { return FakeRestClient::Json(403, StatusJson(403, "Forbidden")); });
  StartWithoutTurns();
  reflector_->RetryNow();
  reflector_->UseClient(other_);
  loop_.RunReady();
  ASSERT_EQ(state(), DemandState::kForbidden);
  other_.ForgetRequests();
  loop_.RunFor(absl::Seconds(29));
  EXPECT_TRUE(other_.requests().empty());
}

// Another component's denials are not its own.
TEST_F(ReflectorAccessTest, AnotherIdentityAsksAgainSoon) {
  const auto deny = [](const RestRequest&) {
    return FakeRestClient::Json(403, StatusJson(403, "Forbidden"));
  };
  options_.watch_list = false;
  client_.Handle(deny);
  other_.Handle(deny);
  StartWithoutTurns();
  loop_.RunFor(absl::Minutes(10));
  ASSERT_EQ(state(), DemandState::kForbidden);
  reflector_->UseClient(other_);
  loop_.RunReady();
  other_.ForgetRequests();
  loop_.RunFor(absl::Seconds(5));
  EXPECT_FALSE(other_.requests().empty());
}

// The failure of the former client does not count for the new one.
TEST_F(ReflectorAccessTest, AnotherIdentityMayTakeOverInsideAFailure) {
  StartWithoutTurns();
  successor_ = &other_;
  loop_.RunFor(options_.response_timeout);
  ASSERT_EQ(other_.watches().size(), 1u) << "the first client has no answer";
  EXPECT_EQ(failures_, 0);
  loop_.RunFor(options_.response_timeout);
  EXPECT_EQ(failures_, 1) << "nor has this one";
}

TEST_F(ReflectorAccessTest, IsStaleDuringASlowHandOver) {
  StartSynced(10);
  reflector_->UseClient(other_);
  loop_.RunFor(absl::Seconds(9));
  EXPECT_EQ(state(), DemandState::kSynced);
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(state(), DemandState::kStale);
}

TEST_F(ReflectorAccessTest, ForbidClosesTheWatch) {
  FakeWatch& watch = StartSynced(10, {WidgetJson("a/x", 5)});
  reflector_->Forbid(absl::PermissionDeniedError("revoked"));
  loop_.RunReady();
  EXPECT_TRUE(watch.cancelled());
  EXPECT_EQ(state(), DemandState::kForbidden);
  const absl::Duration wait = TimeToRequest();
  EXPECT_GE(wait, absl::Seconds(1));
  EXPECT_LT(wait, absl::Seconds(1.2)) << "it was there";
}

}  // namespace
}  // namespace mandate
