// The status of a demand that cannot be served, and when the cache tries again.
#include <gtest/gtest.h>

#include "manager/cache/cache.h"
#include "manager/cache/namespaced_view.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"
#include "manager/core/testing/log_capture.h"

namespace mandate {
namespace {

// An API server that has just started denies everything until it has read its RBAC objects.
class RestartTest : public CacheFixture {
 protected:
  // The server is back at once, and its RBAC objects come `late`. Returns how long the demand is
  // without data.
  absl::Duration Restart(const Demanded& demand, absl::Duration late) {
    const absl::Time start = loop_.clock().TimeNow();
    for (const char* who : {"a", "b"}) server_.Revoke(who);
    for (const FakeRestClient* client : {&a_, &b_}) {
      for (const auto& watch : client->watches()) {
        if (watch->live()) watch->Close(absl::UnavailableError("reset"));
      }
    }
    loop_.RunFor(late);
    EXPECT_EQ(demand.state(), DemandState::kForbidden);
    for (const char* who : {"a", "b"}) server_.Grant(who);
    EXPECT_TRUE(loop_.RunUntil([&] { return demand.state() == DemandState::kSynced; }));
    return loop_.clock().TimeNow() - start;
  }
};

TEST_F(RestartTest, DeniedAccessIsRequestedAgainSoonAfterARestart) {
  CacheView& view = AddGranted(a_);
  CacheView& joined = AddGranted(b_);
  Demanded demand = DemandAndSettle(view);
  Demanded other = DemandAndSettle(joined);
  for (int restart = 0; restart < 3; ++restart) {
    EXPECT_LE(Restart(demand, absl::Seconds(3)), absl::Seconds(9));
    EXPECT_TRUE(
        loop_.RunUntil([&] { return other.state() == DemandState::kSynced; }, absl::Seconds(9)));
    loop_.RunFor(absl::Minutes(1));
  }
}

TEST_F(RestartTest, RetriesALastingRevocationSlowly) {
  CacheView& view = AddGranted(a_);
  Demanded demand = DemandAndSettle(view);
  server_.Revoke("a");
  a_.watches().back()->Close();
  a_.ForgetRequests();
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(demand.state(), DemandState::kForbidden);
  // Each attempt is one watch: six soon, then one in 48 to 58 s.
  EXPECT_LT(a_.requests().size(), 6u + 76);
  EXPECT_GT(a_.requests().size(), 55u);
}

class DemandStatusTest : public CacheFixture {
 protected:
  DemandStatusTest() { options_.log = Logger(log_, loop_.clock()); }

  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>(/*verbosity=*/1);
};

// Both ways to get the whole state.
class DemandStatusByListTest : public DemandStatusTest, public testing::WithParamInterface<bool> {
 protected:
  DemandStatusByListTest() { options_.reflector.watch_list = GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(, DemandStatusByListTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "WatchList" : "List"; });

TEST_F(DemandStatusTest, AFirstListThatFailsShowsItsReason) {
  CacheView& view = AddGranted(a_);
  const auto answer = [&](int code, const char* message) {
    a_.Handle([=](const RestRequest&) -> absl::StatusOr<HttpResponse> {
      return FakeRestClient::Json(code, StatusJson(code, "scripted", message));
    });
    a_.OnWatch([=](const std::shared_ptr<FakeWatch>& watch) {
      watch->Refuse(code, StatusJson(code, "scripted", message));
    });
  };
  answer(500, "conversion webhook is down");
  Demanded demand = Demand(view);
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(demand.Take(), "Pending") << "told once";
  EXPECT_TRUE(demand.sink->status().failed);
  EXPECT_EQ(demand.sink->status().reason.code(), absl::StatusCode::kInternal);
  EXPECT_EQ(demand.handle->status().reason, demand.sink->status().reason);
  EXPECT_EQ(log_->Count("Demand changed its state"), 1) << "not at each retry";
  EXPECT_EQ(log_->Count("conversion webhook is down"), 1);

  answer(503, "no route to the server");
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(demand.Take(), "Pending");
  EXPECT_EQ(demand.handle->status().reason.code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(log_->Count("no route to the server"), 1);
  answer(500, "conversion webhook is down");
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(demand.Take(), "Pending");
  EXPECT_EQ(log_->Count("Demand changed its state"), 2) << "each reason of a state once";

  a_.OnWatch(nullptr);
  server_.Serve(a_);
  loop_.RunFor(absl::Minutes(3));
  EXPECT_TRUE(demand.Take().ends_with("Synced"));
  EXPECT_FALSE(demand.handle->status().failed);

  // This is the second reason for which it is stale.
  a_.watches().back()->Close();
  answer(503, "no route to the server");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(demand.handle->status().reason.code(), absl::StatusCode::kUnavailable);
  demand.Take();
  answer(500, "conversion webhook is down");
  // Its proof has not ended by then.
  loop_.RunFor(absl::Seconds(90));
  EXPECT_EQ(demand.Take(), "Stale");
  EXPECT_EQ(demand.sink->status().reason.code(), absl::StatusCode::kInternal);
}

// As with a server, or a webhook, that hangs.
TEST_P(DemandStatusByListTest, AFirstListWithoutAResponseShowsTheAwaitedRequest) {
  CacheView& view = AddGranted(a_);
  std::vector<std::unique_ptr<Loop::Timer>> timers;
  const auto hang = [&](absl::Duration time, std::function<void()> end) {
    timers.push_back(loop_.RunAt(loop_.clock().TimeNow() + time, std::move(end)));
  };
  const absl::Status late = absl::DeadlineExceededError("nothing came in time");
  a_.HandleLate([&](const RestRequest&, FakeRestClient::Reply reply) {
    hang(absl::Seconds(60), [reply, late] { reply(late); });
  });
  a_.OnWatch([&](const std::shared_ptr<FakeWatch>& watch) {
    hang(absl::Seconds(30), [watch, late] { watch->Close(late); });
  });
  Demanded demand = Demand(view);
  loop_.RunReady();
  EXPECT_EQ(AsStd(demand.handle->status().reason.message()), "the first list is not complete yet");
  loop_.RunFor(absl::Seconds(11));
  EXPECT_EQ(demand.Take(), "Pending");
  EXPECT_TRUE(demand.sink->status().failed);
  EXPECT_EQ(AsStd(demand.handle->status().reason.message()),
            StrCat("the server has sent no data for 10s in response to a's ",
                   GetParam() ? "watch" : "list", " of widgets.example.com"));
  EXPECT_EQ(log_->Count("Demand changed its state"), 1);
  EXPECT_EQ(log_->Count("has sent no data"), 1);
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(log_->Count("has sent no data"), 1) << "each reason once";
  a_.OnWatch(nullptr);
  server_.Serve(a_);
  loop_.RunFor(absl::Minutes(3));
  EXPECT_EQ(demand.state(), DemandState::kSynced);
}

TEST_P(DemandStatusByListTest, AComponentOverItsByteLimitFailsAndOthersGoOn) {
  options_.reflector.page_size = 3;
  options_.bytes_per_watch = 0;
  options_.max_watch_bytes = 60 * WidgetJson("foo/10", 100).size();
  CacheView& view_a = AddGranted(a_);
  CacheView& view_b = AddGranted(b_);
  for (int i = 10; i < 20; ++i) server_.Put(StrCat("foo/", i));
  Demanded all = DemandAndSettle(view_a);
  ASSERT_EQ(all.state(), DemandState::kSynced);
  // Its share holds fifteen objects, and the common half thirty. Members that the server adds
  // count, too.
  for (int i = 20; i < 90; ++i) server_.Put(StrCat("bar/", i));
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(all.state(), DemandState::kStale);
  const absl::Status why = all.handle->status().reason;
  EXPECT_EQ(why.code(), absl::StatusCode::kResourceExhausted) << why;
  EXPECT_NE(why.message().find("max_watch_bytes"), std::string::npos) << why;
  Demanded narrow = Demand(view_b, "baz");
  PutAndSettle("baz/1");
  EXPECT_EQ(narrow.state(), DemandState::kSynced);
  EXPECT_LE(Gauge("mandate_cache_budget_used_bytes", {{"identity", "b"}}), 2000);
  for (int i = 20; i < 90; ++i) server_.Delete(StrCat("bar/", i));
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(all.state(), DemandState::kSynced) << all.handle->status().reason;
  for (int i = 10; i < 20; ++i) server_.Delete(StrCat("foo/", i));
  server_.Delete("baz/1");
  Settle();
  EXPECT_EQ(Gauge("mandate_cache_budget_used_bytes", {{"identity", "a"}}), 0);
}

TEST_P(DemandStatusByListTest, TheFirstDenialSaysWhatToGrant) {
  const Demanded demand = DemandAndSettle(Add(a_));
  const std::string reason(demand.handle->status().reason.message());
  EXPECT_EQ(reason.find("a may not list and watch widgets"), 0u) << reason;
  EXPECT_NE(reason.find("is forbidden"), std::string::npos) << "the API server's: " << reason;
  EXPECT_NE(reason.find("grant it list and watch"), std::string::npos) << reason;
}

TEST_F(DemandStatusTest, AListBeyondItsLimitIsRefused) {
  options_.max_list_bytes = 100;
  CacheView& view = AddGranted(a_);
  NamespacedView restricted(view, {"foo"});
  for (const CacheView* of :
       {static_cast<const CacheView*>(&view), static_cast<const CacheView*>(&restricted)}) {
    EXPECT_TRUE(of->CheckListSize(kWidget, 3, 100).ok());
    const absl::Status why = of->CheckListSize(kWidget, 3, 101);
    EXPECT_EQ(why.code(), absl::StatusCode::kResourceExhausted);
    EXPECT_NE(why.message().find("a list of 3 widgets.example.com takes 101 bytes or more, beyond "
                                 "max_list_bytes (100)"),
              std::string::npos)
        << why;
  }
  EXPECT_EQ(metrics_.Counter("mandate_cache_refused_lists_total", "", {{"identity", "a"}}).Value(),
            2);
}

// The component can read a revoked scope until a review denies it. So this review is sent before
// the probes of denied scopes.
TEST_F(DemandStatusTest, ARevocationOfManyScopesIsNoticedWithinASecond) {
  constexpr int kScopes = 300;
  CacheView& view = Add(a_);
  server_.Grant("a", "foo");
  std::vector<Demanded> granted, denied;
  for (int i = 0; i < kScopes; ++i) {
    granted.push_back(Demand(view, "foo", StrCat("x", i)));
    denied.push_back(Demand(view, "bar", StrCat("x", i)));
  }
  loop_.RunFor(absl::Minutes(2));
  for (const Demanded& one : granted) ASSERT_EQ(one.state(), DemandState::kSynced);
  cache_->RecheckAccess("a", "bar");
  server_.Revoke("a", "foo");
  cache_->RecheckAccess("a", "foo");
  loop_.RunFor(absl::Seconds(1));
  for (const Demanded& one : granted) EXPECT_EQ(one.state(), DemandState::kForbidden);
}

}  // namespace
}  // namespace mandate
