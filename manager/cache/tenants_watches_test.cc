// What one tenant's objects take of a component's memory, others keep.
#include <gtest/gtest.h>

#include <string>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

class TenantsWatchesTest : public CacheFixture {
 protected:
  // The component's share holds thirty objects, and the common half as many.
  TenantsWatchesTest() {
    options_.max_watch_bytes = 60 * WidgetJson("foo/10", 100).size();
    options_.bytes_per_watch = 0;
  }

  Demanded DemandFor(CacheView& view, const std::string& tenant) {
    Demanded demanded = Demand(view, tenant);
    demanded.sink->SetFlows({tenant});
    Settle();
    return demanded;
  }
  void Put(const std::string& ns, int from, int to) {
    for (int i = from; i < to; ++i) server_.Put(StrCat(ns, "/", i));
    loop_.RunFor(absl::Seconds(1));
  }
  double Held(const std::string& component) {
    return Gauge("mandate_cache_budget_used_bytes", {{"identity", component}});
  }
  double Counter(const std::string& name, const std::string& scope = "") {
    Labels labels = {{"kind", "widgets.example.com"}};
    if (!scope.empty()) labels["scope"] = scope;
    return metrics_.Counter(name, "", labels).Value();
  }
  static absl::StatusCode Code(CacheView& view, const std::string& ns, const std::string& name) {
    return view.GetRaw(NonBlockingContext(), kWidget, {ns, name}).status().code();
  }
};

// Two components demand the same watch for a tenant; the first one is its sponsor.
class SharedWatchTest : public TenantsWatchesTest {
 protected:
  SharedWatchTest() {
    view_a_ = &AddGranted(a_);
    view_b_ = &AddGranted(b_);
    Put("shared", 10, 30);
    of_a_ = DemandFor(*view_a_, "shared");
    of_b_ = DemandFor(*view_b_, "shared");
  }

  CacheView* view_a_;
  CacheView* view_b_;
  Demanded of_a_, of_b_;
};

TEST_F(TenantsWatchesTest, TheGreedyOneEndsAndTheOthersGoOn) {
  CacheView& view = AddGranted(a_);
  Demanded declared = DemandAndSettle(view, "own");
  Put("own", 10, 12);
  Put("greedy", 10, 60);
  Demanded greedy = DemandFor(view, "greedy");
  Demanded modest = DemandFor(view, "modest");
  ASSERT_EQ(greedy.state(), DemandState::kSynced);
  greedy.Take();
  Put("modest", 10, 25);
  EXPECT_EQ(modest.state(), DemandState::kSynced) << modest.handle->status().reason;
  EXPECT_EQ(Code(view, "modest", "24"), absl::StatusCode::kOk);
  Put("own", 12, 30);
  EXPECT_EQ(declared.state(), DemandState::kSynced) << declared.handle->status().reason;
  EXPECT_EQ(Code(view, "own", "29"), absl::StatusCode::kOk);

  EXPECT_EQ(greedy.state(), DemandState::kPending);
  const absl::Status why = greedy.handle->status().reason;
  EXPECT_EQ(why.code(), absl::StatusCode::kResourceExhausted) << why;
  EXPECT_NE(why.message().find("max_watch_bytes"), std::string::npos) << why;
  EXPECT_EQ(greedy.sink->Content(), "") << "its objects have left the memory";
  EXPECT_EQ(Code(view, "greedy", "10"), absl::StatusCode::kUnavailable);
  EXPECT_LE(Held("a"), 36 * WidgetJson("foo/10", 100).size());

  // It asks again for as long as it takes, and never at the cost of another.
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(greedy.state(), DemandState::kPending);
  EXPECT_EQ(modest.state(), DemandState::kSynced);
  EXPECT_EQ(declared.state(), DemandState::kSynced);
  for (int i = 12; i < 60; ++i) server_.Delete(StrCat("greedy/", i));
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(greedy.state(), DemandState::kSynced) << greedy.handle->status().reason;
  EXPECT_EQ(Code(view, "greedy", "11"), absl::StatusCode::kOk);
  EXPECT_EQ(Code(view, "greedy", "12"), absl::StatusCode::kNotFound);
}

// A watch that can never fit begins small, and its owner may demand it again and again.
TEST_F(TenantsWatchesTest, WhoCannotFitEndsAnotherOnceAtMost) {
  CacheView& view = AddGranted(a_);
  Put("greedy", 10, 80);
  Put("modest", 10, 42);
  Demanded modest = DemandFor(view, "modest");
  ASSERT_EQ(modest.state(), DemandState::kSynced);
  Demanded greedy = DemandFor(view, "greedy");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(modest.state(), DemandState::kSynced) << modest.handle->status().reason;
  modest.Take();
  for (int i = 0; i < 100; ++i) {
    Leave(greedy);
    greedy = DemandFor(view, "greedy");
  }
  EXPECT_EQ(modest.Take(), "");
  EXPECT_EQ(modest.state(), DemandState::kSynced);
}

// Its sink hears first that the objects are gone.
TEST_F(TenantsWatchesTest, AnEvictionIsNoLossOfAccess) {
  CacheView& view = AddGranted(a_);
  Put("greedy", 10, 60);
  Demanded greedy = DemandFor(view, "greedy");
  Demanded declared = DemandAndSettle(view, "own");
  greedy.Take();
  for (int i = 10; i < 25; ++i) server_.Put(StrCat("own/", i));
  loop_.RunReady();
  EXPECT_EQ(greedy.Take(), "Stale purged:50 Pending");
  EXPECT_TRUE(greedy.sink->status().failed);
  EXPECT_EQ(Counter("mandate_cache_purges_total"), 0);
}

// All who see the objects lose them.
TEST_F(SharedWatchTest, WithoutRoomAnywhereEachSinkIsTold) {
  Demanded own_a = DemandAndSettle(*view_a_, "owna");
  Demanded own_b = DemandAndSettle(*view_b_, "ownb");
  Put("ownb", 10, 38);
  ASSERT_EQ(of_b_.state(), DemandState::kSynced);
  for (int i = 10; i < 31; ++i) server_.Put(StrCat("owna/", i));
  server_.Put("shared/30");
  loop_.RunReady();
  server_.Put("shared/31");
  loop_.RunReady();
  EXPECT_EQ(of_a_.state(), DemandState::kPending) << of_a_.handle->status().reason;
  EXPECT_EQ(of_b_.state(), DemandState::kPending) << of_b_.handle->status().reason;
  EXPECT_EQ(of_a_.sink->Content(), "");
  EXPECT_EQ(of_b_.sink->Content(), "");
}

// The first state of a declared source needs the room that tenants have taken.
TEST_F(TenantsWatchesTest, ADeclaredSourceTakesTheRoomOfTenants) {
  CacheView& view = AddGranted(a_);
  Put("greedy", 10, 60);
  Put("own", 10, 40);
  Demanded greedy = DemandFor(view, "greedy");
  ASSERT_EQ(greedy.state(), DemandState::kSynced);
  Demanded declared = DemandAndSettle(view, "own");
  EXPECT_EQ(declared.state(), DemandState::kSynced) << declared.handle->status().reason;
  EXPECT_EQ(greedy.state(), DemandState::kPending);
  Leave(declared);
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(greedy.state(), DemandState::kSynced);
}

// Another component with a part of the budget has the same objects: nobody loses them.
TEST_F(SharedWatchTest, AnotherComponentTakesTheWatchOver) {
  Demanded declared = DemandAndSettle(*view_a_, "own");
  of_a_.Take();
  Put("own", 10, 40);
  EXPECT_EQ(declared.state(), DemandState::kSynced);
  EXPECT_EQ(of_a_.state(), DemandState::kSynced) << of_a_.handle->status().reason;
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
  EXPECT_EQ(Code(*view_a_, "shared", "29"), absl::StatusCode::kOk);
  EXPECT_GT(Held("b"), 0);
  EXPECT_EQ(Counter("mandate_cache_handovers_total"), 1);
}

// A narrower watch lives on what the evicted one delivered.
TEST_F(TenantsWatchesTest, ANarrowerWatchGoesOn) {
  CacheView& view = AddGranted(a_);
  Put("greedy", 10, 50);
  Demanded wide = DemandFor(view, "");
  wide.sink->SetFlows({"greedy"});
  Demanded narrow = Demand(view, "greedy", "10");
  narrow.sink->SetFlows({"modest"});
  Settle();
  ASSERT_EQ(narrow.state(), DemandState::kSynced);
  for (int i = 50; i < 80; ++i) server_.Put(StrCat("greedy/", i));
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(Counter("mandate_cache_overflows_total", "cluster"), 1);
  EXPECT_EQ(wide.state(), DemandState::kPending);
  EXPECT_EQ(narrow.state(), DemandState::kSynced) << narrow.handle->status().reason;
  EXPECT_EQ(Code(view, "greedy", "10"), absl::StatusCode::kOk);
  EXPECT_EQ(Code(view, "greedy", "11"), absl::StatusCode::kUnavailable);
}

TEST_F(SharedWatchTest, AMemberWithoutRoomDoesNotTakeTheWatchOver) {
  Demanded own_a = DemandAndSettle(*view_a_, "owna");
  Demanded own_b = DemandAndSettle(*view_b_, "ownb");
  Put("ownb", 10, 38);
  Put("owna", 10, 32);
  Settle();
  EXPECT_LE(Held("a") + Held("b"), 60 * WidgetJson("foo/10", 100).size())
      << of_a_.handle->status().reason;
}

// Otherwise an empty store would be "the last known objects".
TEST_F(SharedWatchTest, AnExpiredMemberDoesNotReadAnEmptyStore) {
  Demanded declared = DemandAndSettle(*view_a_, "own");
  EndRequests(b_, absl::UnavailableError("connection refused"));
  loop_.RunFor(absl::Minutes(5));
  ASSERT_EQ(of_b_.state(), DemandState::kStale);
  ASSERT_EQ(view_b_->ListLastKnown(kWidget, "shared").size(), 20u);
  Put("own", 10, 45);
  ASSERT_EQ(of_a_.state(), DemandState::kPending);
  EXPECT_EQ(of_b_.state(), DemandState::kPending);
}

}  // namespace
}  // namespace mandate
