// Watches that a wider one replaces, and what happens when it is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;

class CoveredWatchTest : public CacheFixture {
 protected:
  void SetUp() override {
    server_.Put("foo/x");
    server_.Put("bar/y");
  }
  static absl::StatusCode Get(const CacheView& view, const std::string& ns,
                              const std::string& name) {
    return view.GetRaw({}, kWidget, {ns, name}).status().code();
  }
  void Linger() { loop_.RunFor(options_.close_covered_watch_after + absl::Seconds(1)); }
  double Covered() {
    return Gauge("mandate_cache_covered_scopes", {{"kind", "widgets.example.com"}});
  }
};

TEST_F(CoveredWatchTest, AScopeWithinASyncedOneSendsNoRequest) {
  CacheView& view = AddGranted(a_);
  Demanded all = DemandAndSettle(view);
  Demanded foo = DemandAndSettle(view, "foo");
  Demanded one = DemandAndSettle(view, "foo", "x");
  Demanded none = DemandAndSettle(view, "foo", "none");
  EXPECT_EQ(a_.requests().size(), 1u);
  EXPECT_EQ(server_.live_watches(), 1u);
  EXPECT_EQ(Covered(), 3);
  EXPECT_EQ(foo.Take(), "!+foo/x@101 Synced");
  EXPECT_EQ(one.Take(), "!+foo/x@101 Synced");
  EXPECT_EQ(none.Take(), "Synced");

  PutAndSettle("foo/x");
  PutAndSettle("bar/y");
  EXPECT_EQ(foo.Take(), "~foo/x@103");
  EXPECT_EQ(one.Take(), "~foo/x@103");
  EXPECT_EQ(none.Take(), "");
  Leave(foo);
  Leave(one);
  Leave(none);
  EXPECT_EQ(Covered(), 0);
  EXPECT_EQ(server_.live_watches(), 1u);
}

TEST_F(CoveredWatchTest, AWatchEndsSomeTimeAfterAWiderOneIsSynced) {
  CacheView& view = AddGranted(a_);
  Demanded foo = DemandAndSettle(view, "foo");
  Demanded all = DemandAndSettle(view);
  EXPECT_EQ(server_.live_watches(), 2u);
  EXPECT_EQ(foo.Take(), "!+foo/x@101 Synced");
  Linger();
  EXPECT_EQ(server_.live_watches(), 1u);
  EXPECT_EQ(foo.Take(), "") << "nothing has changed";
  EXPECT_EQ(foo.state(), DemandState::kSynced);
  PutAndSettle("foo/new");
  EXPECT_EQ(foo.Take(), "+foo/new@103");
}

// Each turn of the loop plans a few watches.
TEST_F(CoveredWatchTest, EachOfManyWatchesEnds) {
  options_.max_watches_per_loop_turn = 2;
  CacheView& view = AddGranted(a_);
  std::vector<Demanded> narrow;
  for (int i = 0; i < 9; ++i) narrow.push_back(Demand(view, "foo", StrCat("n", i)));
  Settle();
  EXPECT_EQ(server_.live_watches(), 9u);
  const Demanded all = DemandAndSettle(view);
  Linger();
  EXPECT_EQ(Covered(), 9);
  EXPECT_EQ(server_.live_watches(), 1u);
}

TEST_F(CoveredWatchTest, TheEndOfTheWiderDemandStartsTheWatchAgain) {
  CacheView& view = AddGranted(a_);
  Demanded all = DemandAndSettle(view);
  Demanded foo = DemandAndSettle(view, "foo");
  foo.Take();
  server_.Put("foo/x");
  loop_.RunReady();
  all.handle.reset();
  server_.Put("foo/new");
  Settle();
  EXPECT_EQ(server_.live_watches(), 1u);
  ASSERT_EQ(a_.requests().size(), 2u);
  EXPECT_THAT(a_.requests().back(), HasSubstr("&resourceVersion=103"))
      << "a watch from where the wider one was, and no list";
  // No event is lost, and none comes twice.
  EXPECT_EQ(foo.Take(), "~foo/x@103 Pending Synced +foo/new@104");
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kOk);
  EXPECT_EQ(Get(view, "bar", "y"), absl::StatusCode::kFailedPrecondition);
}

TEST_F(CoveredWatchTest, ADeniedWiderScopeLeavesTheNarrowOneThatIsGranted) {
  server_.Grant("a", "foo");
  CacheView& view = AddGranted(a_);
  Demanded all = DemandAndSettle(view);
  Demanded foo = DemandAndSettle(view, "foo");
  Demanded bar = DemandAndSettle(view, "bar");
  EXPECT_EQ(server_.live_watches(), 1u);
  foo.Take();
  bar.Take();
  server_.Revoke("a");
  RetryAndSettle();
  EXPECT_EQ(all.state(), DemandState::kForbidden);
  EXPECT_EQ(Get(view, "bar", "y"), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(bar.state(), DemandState::kForbidden);
  EXPECT_EQ(foo.state(), DemandState::kSynced);
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kOk);
  PutAndSettle("foo/x");
  EXPECT_EQ(foo.Take(), "Pending Synced ~foo/x@103");

  // And back.
  server_.Grant("a");
  RetryAndSettle();
  EXPECT_EQ(bar.state(), DemandState::kSynced);
  Linger();
  EXPECT_EQ(server_.live_watches(), 1u);
  EXPECT_EQ(Covered(), 2);
  PutAndSettle("bar/y");
  EXPECT_EQ(Text(*view.ListRaw({}, kWidget, "bar")), "bar/y@104");
}

TEST_F(CoveredWatchTest, NothingIsReadableInTheMomentOfTheDenial) {
  CacheView& view = AddGranted(a_);
  Demanded all = DemandAndSettle(view);
  Demanded foo = DemandAndSettle(view, "foo");
  server_.Revoke("a");
  cache_->RecheckAccess("");
  loop_.RunUntil([&] { return all.state() == DemandState::kForbidden; });
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(view.ListLastKnown(kWidget, "foo").empty());
  EXPECT_EQ(view.GetLastKnown(kWidget, {"foo", "x"}), nullptr);
}

// Thousands at once would make the server refuse the component's other requests.
TEST_F(CoveredWatchTest, WhenTheWiderWatchIsLostTheOthersOpenInTurn) {
  options_.probes.reopens = {.per_second = 1, .burst = 2};
  server_.Grant("a", "foo");
  CacheView& view = AddGranted(a_);
  Demanded all = DemandAndSettle(view);
  Demanded narrow[] = {DemandAndSettle(view, "foo", "x"), DemandAndSettle(view, "foo", "n1"),
                       DemandAndSettle(view, "foo", "n2"), DemandAndSettle(view, "foo", "n3")};
  EXPECT_EQ(server_.live_watches(), 1u);
  server_.Revoke("a");
  cache_->RecheckAccess("");
  loop_.RunUntil([&] { return all.state() == DemandState::kForbidden; });
  const auto synced = [&] {
    return std::ranges::count_if(
        narrow, [](const Demanded& demand) { return demand.state() == DemandState::kSynced; });
  };
  loop_.RunFor(absl::Milliseconds(500));
  EXPECT_EQ(synced(), 2);
  EXPECT_EQ(server_.live_watches(), 2u);
  for (int i = 3; i <= 4; ++i) {
    loop_.RunFor(absl::Seconds(1));
    EXPECT_EQ(synced(), i);
  }
  EXPECT_EQ(Get(view, "foo", "x"), absl::StatusCode::kOk);
}

// One component asks by the watches that open, the other by reviews: thousands at once, too.
TEST_F(CoveredWatchTest, WhenTheWiderWatchIsLostTheOtherComponentAsksInTurn) {
  options_.probes.firsts = {.per_second = 1, .burst = 2};
  server_.Grant("a", "foo");
  CacheView& view_a = AddGranted(a_);
  CacheView& view_b = AddGranted(b_);
  Demanded all_a = DemandAndSettle(view_a);
  Demanded all_b = DemandAndSettle(view_b);
  std::vector<Demanded> narrow;
  for (const char* name : {"x", "n1", "n2", "n3"}) {
    for (CacheView* view : {&view_a, &view_b}) {
      narrow.push_back(DemandAndSettle(*view, "foo", name));
    }
  }
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(server_.live_watches(), 1u);
  server_.Revoke("a");
  cache_->RecheckAccess("");
  loop_.RunUntil([&] { return all_a.state() == DemandState::kForbidden; });
  a_.ForgetRequests();
  loop_.RunFor(absl::Milliseconds(500));
  EXPECT_EQ(a_.Count(kReviews), 2u);
  loop_.RunFor(absl::Seconds(2));
  EXPECT_GE(a_.Count(kReviews), 4u);
  for (const Demanded& demand : narrow) EXPECT_EQ(demand.state(), DemandState::kSynced);
}

TEST_F(CoveredWatchTest, AComponentWithoutTheWiderAccessKeepsTheWatch) {
  server_.Grant("b", "foo");
  CacheView& view_a = AddGranted(a_);
  CacheView& view_b = Add(b_);
  Demanded all = DemandAndSettle(view_a);
  Demanded foo_a = DemandAndSettle(view_a, "foo");
  EXPECT_EQ(server_.live_watches(), 1u);
  Demanded foo_b = DemandAndSettle(view_b, "foo");
  EXPECT_EQ(server_.live_watches(), 2u) << "b may not see all";
  EXPECT_EQ(foo_a.state(), DemandState::kSynced);
  EXPECT_EQ(foo_b.state(), DemandState::kSynced);
  EXPECT_EQ(Get(view_b, "foo", "x"), absl::StatusCode::kOk);

  server_.Revoke("b", "foo");
  RetryAndSettle("b");
  EXPECT_EQ(foo_b.state(), DemandState::kForbidden);
  EXPECT_EQ(Get(view_b, "foo", "x"), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Get(view_a, "foo", "x"), absl::StatusCode::kOk);
  Leave(foo_b);
  Linger();
  EXPECT_EQ(server_.live_watches(), 1u);
  EXPECT_EQ(foo_a.state(), DemandState::kSynced);
}

TEST_F(CoveredWatchTest, TheOneThatKeepsTheWiderAccessOpensTheWatch) {
  CacheView& view_a = AddGranted(a_);
  CacheView& view_b = AddGranted(b_);
  const Demanded all_a = DemandAndSettle(view_a), all_b = DemandAndSettle(view_b);
  const Demanded foo_a = DemandAndSettle(view_a, "foo"), foo_b = DemandAndSettle(view_b, "foo");
  loop_.RunFor(absl::Minutes(1));
  ASSERT_EQ(Covered(), 1);
  b_.ForgetRequests();
  server_.Revoke("b");
  RetryAndSettle("b");
  EXPECT_EQ(foo_a.state(), DemandState::kSynced);
  EXPECT_EQ(foo_b.state(), DemandState::kForbidden);
  EXPECT_EQ(b_.Count("watch=true"), 0u) << "it has lost its access";
}

TEST_F(CoveredWatchTest, AnOutageIsThatOfTheWiderWatch) {
  CacheView& view = AddGranted(a_);
  Demanded all = DemandAndSettle(view);
  Demanded foo = DemandAndSettle(view, "foo");
  foo.Take();
  server_.faults().refuse_watch = 1;
  server_.faults().cut = 1;
  server_.Put("bar/y");
  Settle();
  EXPECT_EQ(foo.state(), DemandState::kStale);
  EXPECT_EQ(Covered(), 1) << "its own watch would fail as well";
  server_.faults() = {};
  server_.Put("foo/x");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(foo.Take(), "Stale Stale Synced ~foo/x@104");
  EXPECT_EQ(server_.live_watches(), 1u);
}

TEST_F(CoveredWatchTest, ASelectorIsServedByAWatchWithoutOne) {
  server_.Put("foo/web", {{"app", "web"}});
  CacheView& view = AddGranted(a_);
  Demanded foo = DemandAndSettle(view, "foo");
  Demanded web = DemandSelected(view, "foo", "app=web");
  Settle();
  EXPECT_EQ(server_.live_watches(), 1u);
  EXPECT_EQ(web.Take(), "!+foo/web@103 Synced");
  server_.Put("foo/web");
  server_.Put("foo/x", {{"app", "web"}});
  Settle();
  EXPECT_EQ(web.Take(), "-foo/web@103 +foo/x@105");
}

TEST_F(CoveredWatchTest, ChainsMoveToTheWidestWatch) {
  CacheView& view = AddGranted(a_);
  Demanded foo = DemandAndSettle(view, "foo");
  Demanded one = DemandAndSettle(view, "foo", "x");
  EXPECT_EQ(Covered(), 1);
  Demanded all = DemandAndSettle(view);
  Linger();
  EXPECT_EQ(Covered(), 2);
  EXPECT_EQ(server_.live_watches(), 1u);
  one.Take();
  PutAndSettle("foo/x");
  EXPECT_EQ(one.Take(), "~foo/x@103");
  Leave(all);
  EXPECT_EQ(foo.state(), DemandState::kSynced);
  EXPECT_EQ(one.state(), DemandState::kSynced);
  one.Take();
  PutAndSettle("foo/x");
  EXPECT_EQ(one.Take(), "~foo/x@104");
}

TEST_F(CoveredWatchTest, AWiderScopeThatIsDemandedAgainCoversAgain) {
  options_.close_unused_watch_after = absl::Minutes(1);
  CacheView& view = AddGranted(a_);
  Demanded all = DemandAndSettle(view);
  Demanded foo = DemandAndSettle(view, "foo");
  Leave(all);
  EXPECT_EQ(server_.live_watches(), 2u) << "the wider watch lingers";
  all = DemandAndSettle(view);
  Linger();
  EXPECT_EQ(server_.live_watches(), 1u);
  EXPECT_EQ(Covered(), 1);
}

TEST_F(CoveredWatchTest, AScopeThatIsNoLongerDemandedStaysCovered) {
  options_.close_unused_watch_after = absl::Minutes(1);
  CacheView& view = AddGranted(a_);
  Demanded all = DemandAndSettle(view);
  Demanded foo = DemandAndSettle(view, "foo");
  Leave(foo);
  EXPECT_EQ(Covered(), 1) << "it lingers, and may be demanded again";
  foo = DemandAndSettle(view, "foo");
  EXPECT_EQ(foo.state(), DemandState::kSynced);
  Leave(foo);
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(Covered(), 0);
  EXPECT_EQ(a_.requests().size(), 1u) << "the wider watch";
}

TEST_F(CoveredWatchTest, AnOptionGivesEachScopeItsOwnWatch) {
  options_.close_covered_watch_after = absl::InfiniteDuration();
  CacheView& view = AddGranted(a_);
  Demanded all = DemandAndSettle(view);
  Demanded foo = DemandAndSettle(view, "foo");
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(server_.live_watches(), 2u);
}

TEST_F(CoveredWatchTest, TheCacheMayEndWithCoveredWatches) {
  CacheView& view = AddGranted(a_);
  Demanded all = DemandAndSettle(view);
  Demanded foo = DemandAndSettle(view, "foo");
  cache_.reset();
  Settle();
  EXPECT_EQ(server_.live_watches(), 0u);
}

// The time beside the first one does not count.
TEST_F(CoveredWatchTest, AWiderWatchThatComesAgainWaitsAsTheFirst) {
  CacheView& view = AddGranted(a_);
  Demanded foo = DemandAndSettle(view, "foo");
  Demanded all = DemandAndSettle(view);
  loop_.RunFor(options_.close_covered_watch_after / 2);
  Leave(all);
  Demanded again = DemandAndSettle(view, "foo");
  all = DemandAndSettle(view);
  loop_.RunFor(options_.close_covered_watch_after / 2);
  EXPECT_EQ(server_.live_watches(), 2u);
  Linger();
  EXPECT_EQ(server_.live_watches(), 1u);
}

// Neither the silence of members nor how long each of them may wait.
TEST_F(CoveredWatchTest, TheFailuresBeforeItWasCoveredDoNotCount) {
  CacheView& view_a = AddGranted(a_);
  CacheView& view_b = AddGranted(b_);
  Demanded foo_a = DemandAndSettle(view_a, "foo"), foo_b = DemandAndSettle(view_b, "foo");
  for (FakeRestClient* client : {&a_, &b_}) client->OnWatch(nullptr);
  a_.watches().back()->Close();
  loop_.RunFor(absl::Seconds(25));  // both have waited in vain: the next silence may last 40 s
  for (FakeRestClient* client : {&a_, &b_}) server_.Serve(*client);
  Demanded all_a = DemandAndSettle(view_a), all_b = DemandAndSettle(view_b);
  Linger();
  ASSERT_EQ(Covered(), 1);
  // Now foo has a watch of its own again, whose sponsor gets no answer.
  a_.OnWatch(nullptr);
  b_.OnWatch(nullptr);
  a_.ForgetRequests();
  b_.ForgetRequests();
  all_a.handle.reset();
  all_b.handle.reset();
  loop_.RunFor(absl::Seconds(13));
  EXPECT_EQ(a_.Count("namespaces/foo/widgets"), 1u);
  EXPECT_EQ(b_.Count("namespaces/foo/widgets"), 1u);
}

}  // namespace
}  // namespace mandate
