// A server that takes long for each answer, as for denials in a namespace with thousands of
// RoleBindings.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

class SlowAnswersTest : public CacheFixture {
 protected:
  static constexpr size_t kPlaces = 4;

  SlowAnswersTest() { options_.probes.max_under_way = options_.probes.min_under_way = kPlaces; }

  // Of a server that does not answer yet.
  std::vector<Demanded> DemandMany(CacheView& view) {
    a_.OnWatch([](const std::shared_ptr<FakeWatch>&) {});
    std::vector<Demanded> demands;
    for (int i = 0; i < 20; ++i) {
      demands.push_back(Demand(view, "bar", StrCat("n", i)));
      demands.back().sink->SetFlows({"one"});
    }
    return demands;
  }
  // Answers the oldest watch that waits for an answer.
  void Deny() {
    for (const auto& watch : a_.watches()) {
      if (!watch->live() || watch->opened()) continue;
      return Deny(*watch);
    }
    FAIL() << "none waits";
  }
  static void Deny(FakeWatch& watch) {
    watch.Refuse(403, R"({"kind":"Status","apiVersion":"v1","status":"Failure",)"
                      R"("message":"no","reason":"Forbidden","code":403})");
  }
};

TEST_F(SlowAnswersTest, FewFirstWatchesAreUnansweredAtOnce) {
  CacheView& view = Add(a_);
  const std::vector<Demanded> demands = DemandMany(view);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(a_.watches().size(), kPlaces);
  Deny();
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(a_.watches().size(), kPlaces + 1);
  // Another tenant does not wait for all 16 others.
  const Demanded other = Demand(view, "foo");
  other.sink->SetFlows({"other"});
  loop_.RunReady();
  for (int i = 0; i < 2; ++i) {
    Deny();
    loop_.RunFor(absl::Milliseconds(100));
  }
  const std::string& target = a_.watches().back()->request().target;
  const std::string& before = a_.watches()[kPlaces + 1]->request().target;
  EXPECT_TRUE((target + before).find("/namespaces/foo/") != std::string::npos)
      << before << " " << target;
}

TEST_F(SlowAnswersTest, FewDeniedScopesAreAskedForAtOnce) {
  CacheView& view = Add(a_);
  std::vector<Demanded> demands;
  for (int i = 0; i < 20; ++i) demands.push_back(Demand(view, "bar", StrCat("n", i)));
  loop_.RunFor(absl::Seconds(5));
  for (const Demanded& demanded : demands) ASSERT_EQ(demanded.state(), DemandState::kForbidden);
  const size_t before = a_.watches().size();
  a_.OnWatch([](const std::shared_ptr<FakeWatch>&) {});
  cache_->RecheckAccess("a");
  loop_.RunFor(absl::Seconds(20));  // after 30 s without events a list is sent instead
  EXPECT_EQ(a_.watches().size(), before + kPlaces);
}

// A server that has no answer for any of them is as silent to those that wait.
TEST_F(SlowAnswersTest, WhoWaitsForAPlaceIsNotSyncedForever) {
  server_.Put("bar/x");
  CacheView& view = AddGranted(a_);
  const Demanded synced = DemandAndSettle(view, "bar", "x");
  ASSERT_EQ(synced.state(), DemandState::kSynced);
  const std::vector<Demanded> demands = DemandMany(view);
  loop_.RunFor(absl::Seconds(1));
  ASSERT_EQ(demands.back().state(), DemandState::kPending);
  loop_.RunFor(absl::Seconds(15));
  EXPECT_EQ(demands.back().state(), DemandState::kPending);
  EXPECT_NE(demands.back().handle->status().reason.message().find("has sent no data"),
            absl::string_view::npos)
      << demands.back().handle->status().reason;
  EXPECT_EQ(synced.state(), DemandState::kSynced) << "its watch is open";
}

// The server never answers for some scopes of a kind, which does not stop the others.
TEST_F(SlowAnswersTest, WatchesThatAreNeverAnsweredLeavePlacesToOthers) {
  options_.probes = ProbeBudget::Options{.per_second = 5, .burst = 20};
  CacheView& view = Add(a_);
  a_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
    if (watch->request().target.find("/namespaces/bar/") == std::string::npos) Deny(*watch);
  });
  std::vector<Demanded> hang;
  for (int i = 0; i < 100; ++i) {
    hang.push_back(Demand(view, "bar", StrCat("n", i)));
    hang.back().sink->SetFlows({"one"});
  }
  loop_.RunFor(absl::Seconds(1));
  const Demanded other = Demand(view, "foo", "x");
  other.sink->SetFlows({"other"});
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(other.state(), DemandState::kPending);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(other.state(), DemandState::kForbidden) << "which is an answer";
}

TEST_F(SlowAnswersTest, AReleasedDemandReturnsItsPlace) {
  CacheView& view = Add(a_);
  std::vector<Demanded> demands = DemandMany(view);
  loop_.RunFor(absl::Seconds(1));
  ASSERT_EQ(a_.watches().size(), kPlaces);
  for (size_t i = 0; i < kPlaces; ++i) demands[i].handle.reset();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(a_.watches().size(), 2 * kPlaces);
}

}  // namespace
}  // namespace mandate
