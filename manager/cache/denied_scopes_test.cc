// Many denied scopes share the budget of their component's probes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

class DeniedScopesTest : public CacheFixture {
 protected:
  static constexpr int kScopes = 30;

  DeniedScopesTest() {
    options_.probes = {.per_second = 1, .burst = 1, .hints = {.per_second = 1, .burst = 1}};
  }

  // Each denied scope asks for its turn every second.
  void AskOften() {
    options_.reflector.forbidden_backoff = options_.access.denied_backoff = {
        .initial = absl::Seconds(1), .factor = 1, .max = absl::Seconds(1), .jitter = 0};
  }
  // The last one is in another namespace, which follows the other one in each hint for all.
  std::vector<Demanded> DemandAll(CacheView& view) {
    std::vector<Demanded> demands;
    for (int i = 1; i < kScopes; ++i) demands.push_back(Demand(view, "bar", StrCat("n", i)));
    demands.push_back(Demand(view, "foo"));
    loop_.RunFor(absl::Minutes(5));
    return demands;
  }
  // The component gets a hint every 5 s.
  void HintUntilSynced(const std::string& component, const Demanded& last) {
    ASSERT_EQ(last.state(), DemandState::kForbidden);
    server_.Grant(component, "foo");
    for (int i = 0; i < 7; ++i) {
      cache_->RecheckAccess(component);
      loop_.RunFor(absl::Seconds(5));
    }
    EXPECT_EQ(last.state(), DemandState::kSynced) << "it had its turn among 30";
  }
};

TEST_F(DeniedScopesTest, EachIsAskedForWhileHintsRepeat) {
  const std::vector<Demanded> demands = DemandAll(Add(a_));
  HintUntilSynced("a", demands.back());
}

TEST_F(DeniedScopesTest, EachIsReviewedWhileHintsRepeat) {
  const std::vector<Demanded> of_a = DemandAll(AddGranted(a_));
  const std::vector<Demanded> of_b = DemandAll(Add(b_));
  HintUntilSynced("b", of_b.back());
}

// The tenant with 29 denied scopes demands the other one's scope, too.
TEST_F(DeniedScopesTest, WhoDemandsTheSameDelaysNobody) {
  AskOften();
  for (FakeRestClient* client : {&a_, &b_}) {
    const std::string component(client->component());
    CacheView& view = client == &a_ ? Add(a_) : Add(b_);
    std::vector<Demanded> demands = DemandAll(view);
    for (Demanded& demanded : demands) demanded.sink->SetFlows({"one"});
    // All probes wait in the one flow now.
    loop_.RunFor(absl::Minutes(1));
    server_.Grant(component, "foo");
    if (client == &a_) {
      // Another owner of the same demand.
      demands.back().sink->SetFlows({"one", "other"});
      demands.back().handle->AddFlow("other");
    } else {
      // Another demand for the same scope.
      auto sink = std::make_shared<RecordingSink>();
      sink->SetFlows({"other"});
      demands.push_back({sink, view.Demand({kWidget, "foo", ""}, sink)});
    }
    loop_.RunFor(absl::Seconds(3));
    EXPECT_EQ(demands.back().state(), DemandState::kSynced) << component;
  }
}

// The hint waits for longer than the time until the scope's next probe without a hint.
TEST_F(DeniedScopesTest, AHintThatWaitsStaysFirst) {
  options_.access.denied_backoff.max = absl::Seconds(25);
  const std::vector<Demanded> of_a = DemandAll(AddGranted(a_));
  const std::vector<Demanded> of_b = DemandAll(Add(b_));
  cache_->RecheckAccess("b");
  loop_.RunReady();
  server_.Grant("b", "foo");
  loop_.RunFor(absl::Seconds(32));
  EXPECT_EQ(of_b.back().state(), DemandState::kSynced);
}

// What was revoked can be read until the recheck, so that one joins, too.
TEST_F(DeniedScopesTest, TheSponsorsRecheckTakesTheTurnsOfAnotherOwner) {
  options_.probes.rechecks = {.per_second = 1, .burst = 1};
  for (int i = 0; i < 30; ++i) server_.Put(StrCat("bar/n", i));
  CacheView& view = AddGranted(a_);
  std::vector<Demanded> demands;
  for (int i = 0; i < 30; ++i) {
    demands.push_back(Demand(view, "bar", StrCat("n", i)));
    demands.back().sink->SetFlows({"one"});
  }
  loop_.RunFor(absl::Minutes(1));
  server_.Revoke("a");
  cache_->RecheckAccess("a");
  loop_.RunReady();
  Demanded* last = nullptr;
  for (Demanded& one : demands) {
    if (one.state() == DemandState::kSynced) last = &one;
  }
  ASSERT_NE(last, nullptr);
  last->sink->SetFlows({"one", "other"});
  last->handle->AddFlow("other");
  loop_.RunFor(absl::Seconds(4));
  EXPECT_EQ(last->state(), DemandState::kForbidden);
}

// One tenant demands 29 denied scopes, another one demands one. Without turns, each of the 30
// would be asked for every 30 s; the time of the grant decides how soon that is.
class DeniedScopesAtTest : public DeniedScopesTest, public testing::WithParamInterface<int> {
 protected:
  void GrantAndExpect(const std::string& component, std::vector<Demanded>& demands) {
    for (Demanded& demanded : demands) demanded.sink->SetFlows({"one"});
    demands.back().sink->SetFlows({"other"});
    loop_.RunFor(absl::Minutes(1) + absl::Seconds(GetParam()));
    ASSERT_EQ(demands.back().state(), DemandState::kForbidden);
    server_.Grant(component, "foo");
    loop_.RunFor(absl::Seconds(5));
    EXPECT_EQ(demands.back().state(), DemandState::kSynced);
  }
};
INSTANTIATE_TEST_SUITE_P(Times, DeniedScopesAtTest, testing::Values(0, 10, 20));

TEST_P(DeniedScopesAtTest, TenantsTakeTurns) {
  AskOften();
  std::vector<Demanded> demands = DemandAll(Add(a_));
  GrantAndExpect("a", demands);
}

// Another component has the watches.
TEST_P(DeniedScopesAtTest, TenantsTakeTurnsInReviews) {
  AskOften();
  const std::vector<Demanded> of_a = DemandAll(AddGranted(a_));
  std::vector<Demanded> demands = DemandAll(Add(b_));
  const size_t before = b_.watches().size();
  GrantAndExpect("b", demands);
  EXPECT_EQ(b_.watches().size(), before) << "these are reviews";
}

TEST_F(DeniedScopesTest, TenantsTakeTurnsWhenAWiderWatchEnds) {
  options_.probes.reopens = {.per_second = 1, .burst = 1};
  CacheView& view = AddGranted(a_);
  Demanded wide = DemandAndSettle(view);
  std::vector<Demanded> demands;
  for (int i = 0; i < 30; ++i) {
    demands.push_back(Demand(view, i < 29 ? "bar" : "foo", StrCat("n", i)));
    demands.back().sink->SetFlows({i < 29 ? "one" : "other"});
  }
  Settle();
  a_.ForgetRequests();
  Leave(wide);
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(a_.Count("/namespaces/foo/"), 1u);
  EXPECT_LT(a_.Count("/namespaces/bar/"), 10u) << "they wait";
}

}  // namespace
}  // namespace mandate
