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
  static constexpr size_t kOfOneTenant = kPlaces - 1;

  SlowAnswersTest() { options_.probes.max_under_way = options_.probes.min_under_way = kPlaces; }

  // By one tenant.
  std::vector<Demanded> DemandTwenty(CacheView& view) {
    std::vector<Demanded> demands;
    for (int i = 0; i < 20; ++i) {
      demands.push_back(Demand(view, "bar", StrCat("n", i)));
      demands.back().sink->SetFlows({"one"});
    }
    return demands;
  }
  // Of a server that does not answer yet.
  std::vector<Demanded> DemandMany(CacheView& view) {
    a_.OnWatch([](const std::shared_ptr<FakeWatch>&) {});
    return DemandTwenty(view);
  }
  // The server answers no list.
  void ExpectFewLists() {
    CacheView& view = AddGranted(a_);
    a_.HandleLate([](const RestRequest&, const FakeRestClient::Reply&) {});
    const std::vector<Demanded> demands = DemandTwenty(view);
    loop_.RunFor(absl::Seconds(1));
    EXPECT_EQ(a_.Count("/widgets?limit="), kOfOneTenant);
  }
  // The server denies watches at once, but for those in the namespace bar, which it never answers.
  void AnswerAllButBar() {
    a_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
      if (watch->request().target.find("/namespaces/bar/") == std::string::npos) Deny(*watch);
    });
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
  EXPECT_EQ(a_.watches().size(), kOfOneTenant);
  Deny();
  loop_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(a_.watches().size(), kOfOneTenant + 1);
  // Another tenant waits for none of them.
  const Demanded other = Demand(view, "foo");
  other.sink->SetFlows({"other"});
  loop_.RunReady();
  ASSERT_EQ(a_.watches().size(), kOfOneTenant + 2);
  const std::string& target = a_.watches().back()->request().target;
  EXPECT_NE(target.find("/namespaces/foo/"), std::string::npos) << target;
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
  loop_.RunFor(absl::Seconds(10));  // after 30 s without events a list is sent instead
  EXPECT_EQ(a_.watches().size(), before + kOfOneTenant);
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

// The server never answers for the scopes of one tenant or of many, which does not stop the others.
TEST_F(SlowAnswersTest, WatchesThatAreNeverAnsweredLeavePlacesToOthers) {
  options_.probes = ProbeBudget::Options{.per_second = 5, .burst = 20};
  CacheView& view = Add(a_);
  AnswerAllButBar();
  std::vector<Demanded> hang;
  const auto demand_many = [&](auto flow_of) {
    for (int i = 0; i < 100; ++i) {
      hang.push_back(Demand(view, "bar", StrCat("n", hang.size())));
      hang.back().sink->SetFlows({flow_of(i)});
    }
    loop_.RunFor(absl::Seconds(1));
  };
  const auto demand_other = [&](const char* name) {
    Demanded other = Demand(view, "foo", name);
    other.sink->SetFlows({"other"});
    loop_.RunReady();
    return other;
  };
  demand_many([](int) { return std::string("one"); });
  EXPECT_EQ(demand_other("x").state(), DemandState::kForbidden) << "which is an answer";
  demand_many([](int i) { return StrCat("tenant-", i % 5); });
  const Demanded later = demand_other("y");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(later.state(), DemandState::kPending);
  loop_.RunFor(absl::Minutes(2));  // two places every 15 s, and each tenant has its turn
  EXPECT_EQ(later.state(), DemandState::kForbidden);
}

TEST_F(SlowAnswersTest, AReleasedDemandReturnsItsPlace) {
  CacheView& view = Add(a_);
  std::vector<Demanded> demands = DemandMany(view);
  loop_.RunFor(absl::Seconds(0.5));  // not slow yet
  ASSERT_EQ(a_.watches().size(), kOfOneTenant);
  for (size_t i = 0; i < kOfOneTenant; ++i) demands[i].handle.reset();
  loop_.RunFor(absl::Seconds(0.1));
  EXPECT_EQ(a_.watches().size(), 2 * kOfOneTenant);
}

TEST_F(SlowAnswersTest, FewListsAreUnansweredAtOnce) {
  options_.reflector.watch_list = false;
  ExpectFewLists();
}

TEST_F(SlowAnswersTest, AListReturnsItsPlaceAfterItsFirstPage) {
  options_.reflector.watch_list = false;
  CacheView& view = AddGranted(a_);
  a_.HandleLate([](const RestRequest& request, const FakeRestClient::Reply& reply) {
    if (QueryOf(request.target, "continue").empty()) {
      reply(FakeRestClient::Json(200, ListJson("10", {}, "more")));
    }
  });
  const std::vector<Demanded> demands = DemandTwenty(view);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(a_.Count("continue=more"), 20u);
}

TEST_F(SlowAnswersTest, ADemandThatGetsAnotherTenantTakesItsTurn) {
  options_.probes = ProbeBudget::Options{.per_second = 5, .burst = 20};
  CacheView& view = Add(a_);
  AnswerAllButBar();
  std::vector<Demanded> hang = DemandTwenty(view);
  hang.push_back(Demand(view, "foo", "x"));
  hang.back().sink->SetFlows({"one"});
  loop_.RunFor(absl::Seconds(1));
  hang.back().sink->SetFlows({"one", "other"});
  hang.back().handle->AddFlow("other");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(hang.back().state(), DemandState::kForbidden) << "it waits for none of the others";
}

TEST_F(SlowAnswersTest, FewListsAreUnansweredAfterRefusedStreamingLists) {
  server_.faults().no_watch_list = 1;
  ExpectFewLists();
}

TEST_F(SlowAnswersTest, FewWatchesAreUnansweredAfterLists) {
  options_.reflector.watch_list = false;
  CacheView& view = AddGranted(a_);
  a_.HandleLate([](const RestRequest&, const FakeRestClient::Reply& reply) {
    reply(FakeRestClient::Json(200, ListJson("10", {})));
  });
  a_.OnWatch([](const std::shared_ptr<FakeWatch>&) {});
  const std::vector<Demanded> demands = DemandTwenty(view);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(a_.watches().size(), kOfOneTenant);
}

TEST_F(SlowAnswersTest, TwoSlowTenantsLeaveAPlaceToOthers) {
  options_.probes = ProbeBudget::Options{.per_second = 5, .burst = 20};
  CacheView& view = Add(a_);
  AnswerAllButBar();
  std::vector<Demanded> hang;
  for (int i = 0; i < 200; ++i) {
    hang.push_back(Demand(view, "bar", StrCat("n", i)));
    hang.back().sink->SetFlows({StrCat("tenant-", i % 2)});
  }
  loop_.RunFor(absl::Minutes(3));
  Demanded other = Demand(view, "foo", "x");
  other.sink->SetFlows({"other"});
  const absl::Time began = loop_.clock().TimeNow();
  while (other.state() != DemandState::kForbidden) loop_.RunFor(absl::Seconds(1));
  EXPECT_LE(loop_.clock().TimeNow() - began, absl::Seconds(16));
}

}  // namespace
}  // namespace mandate
