#include "manager/controller/demand_set.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "manager/controller/testing/demand_set_fixture.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

LabelSelector Selector(std::string_view text) { return *LabelSelector::Parse(text); }

class DemandSetTest : public DemandSetFixture {};

TEST_F(DemandSetTest, AnOwnerIsReconciledWhenItsDemandIsSynced) {
  StartWithDemands();
  PutRole("foo", "r");
  demands_->Replace(Owner("a"), {{RolesOf("foo")}});
  EXPECT_EQ(demands_->Check(Owner("a")).code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
  EXPECT_TRUE(demands_->Check(Owner("a")).ok()) << demands_->Check(Owner("a"));
  EXPECT_THAT(cache_.demands(), UnorderedElementsAre(DemandSpec{kLease, "", ""}, RolesOf("foo")));

  // The next owner shares it, and may read at once.
  demands_->Replace(Owner("b"), {{RolesOf("foo")}});
  EXPECT_TRUE(demands_->Check(Owner("b")).ok());
  EXPECT_EQ(cache_.demands().size(), 2);
  EXPECT_EQ(Gauge("mandate_demands"), 2);
  EXPECT_EQ(Gauge("mandate_demand_owners"), 2);
  EXPECT_EQ(Gauge("mandate_demand_scopes"), 1);

  demands_->Release(Owner("a"));
  demands_->Release(Owner("b").key);
  EXPECT_THAT(cache_.demands(), ElementsAre(DemandSpec{kLease, "", ""}));
  EXPECT_THAT(SettleAndTake(), IsEmpty());
  EXPECT_EQ(Gauge("mandate_demand_scopes"), 0);
}

// Probes of denied access take turns by it.
TEST_F(DemandSetTest, TheFlowsOfADemandAreItsOwnersNamespaces) {
  StartWithDemands();
  demands_->Replace({{"tenant", "a"}, "1"}, {{RolesOf("foo")}});
  EXPECT_THAT(cache_.FlowsOf(RolesOf("foo")), ElementsAre("tenant"));
  EXPECT_THAT(cache_.added_flows(), IsEmpty());
  demands_->Replace({{"foo", "b"}, "2"}, {{RolesOf("foo")}});
  EXPECT_THAT(cache_.FlowsOf(RolesOf("foo")), ElementsAre("foo", "tenant"));
  EXPECT_THAT(cache_.added_flows(), ElementsAre("foo")) << "the new one alone";
  demands_->Replace({{"foo", "c"}, "3"}, {{RolesOf("foo")}});
  EXPECT_THAT(cache_.added_flows(), ElementsAre("foo")) << "the namespace has its turns already";
}

TEST_F(DemandSetTest, AnOwnerThatJoinsWhileTheDemandOpensIsTold) {
  StartWithDemands();
  cache_.OnDemand([&] { demands_->Replace({{"foo", "b"}, "2"}, {{RolesOf("foo")}}); });
  demands_->Replace({{"tenant", "a"}, "1"}, {{RolesOf("foo")}});
  EXPECT_THAT(cache_.FlowsOf(RolesOf("foo")), ElementsAre("foo", "tenant"));
  EXPECT_THAT(cache_.added_flows(), ElementsAre("foo"));
}

TEST_F(DemandSetTest, AnEventIsARequestForEachOwnerThatDemandsTheObject) {
  StartWithDemands();
  demands_->Replace(Owner("all"), {{RolesOf("foo")}});
  demands_->Replace(Owner("a"), {{RolesOf("foo"), Selector("app=a")}, {RolesOf("bar")}});
  demands_->Replace(Owner("b"), {{RolesOf("foo"), Selector("app=b")}});
  (void)SettleAndTake();

  PutRole("foo", "x", {{"app", "a"}});
  EXPECT_THAT(TakeDistinctNames(), IsEmpty());
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(TakeDistinctNames(), UnorderedElementsAre("all", "a"));
  PutRole("foo", "x", {{"app", "b"}});
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(TakeDistinctNames(), UnorderedElementsAre("all", "a", "b"))
      << "the owner that loses it learns of it";
  cache_.Remove(kRole, {"foo", "x"});
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(TakeDistinctNames(), UnorderedElementsAre("all", "b"));
  PutRole("bar", "y");
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
  PutRole("elsewhere", "z");
  EXPECT_THAT(SettleAndTake(), IsEmpty());
}

TEST_F(DemandSetTest, AnOwnerThatIsDeletedWhileItsKindIsForbiddenIsReleased) {
  const Lease a = PutLease("a"), b = PutLease("b");
  StartWithDemands();
  demands_->Replace(OwnerOf(a), {{RolesOf("foo")}});
  demands_->Replace(OwnerOf(b), {{RolesOf("bar")}});
  (void)SettleAndTake();
  cache_.SetState(kLease, DemandState::kForbidden, absl::PermissionDeniedError("no"));
  cache_.Remove(kLease, {"", "a"});
  (void)SettleAndTake();
  EXPECT_EQ(cache_.demands().size(), 3u) << "nobody knows yet";
  cache_.SetState(kLease, DemandState::kSynced);
  (void)SettleAndTake();
  EXPECT_THAT(cache_.demands(), UnorderedElementsAre(DemandSpec{kLease, "", ""}, RolesOf("bar")));
  // Its definition may be deleted meanwhile: then it has no objects.
  cache_.SetState(kLease, DemandState::kForbidden, absl::PermissionDeniedError("no"));
  cache_.SetState(kLease, DemandState::kKindAbsent, absl::NotFoundError("no kind"));
  (void)SettleAndTake();
  EXPECT_THAT(cache_.demands(), ElementsAre(DemandSpec{kLease, "", ""}));
}

TEST_F(DemandSetTest, ALossOfAccessConcernsItsOwnersOnly) {
  StartWithDemands();
  demands_->Replace(Owner("a"), {{RolesOf("foo")}, {RolesOf("bar")}});
  demands_->Replace(Owner("b"), {{RolesOf("bar")}});
  (void)SettleAndTake();

  cache_.SetState(RolesOf("foo"), DemandState::kForbidden,
                  absl::PermissionDeniedError("roles is forbidden: no"));
  EXPECT_THAT(SettleAndTake(), ElementsAre("a")) << "once";
  const absl::Status denied = demands_->Check(Owner("a"));
  EXPECT_TRUE(absl::IsPermissionDenied(denied));
  EXPECT_EQ(denied.message(), "roles is forbidden: no");
  EXPECT_TRUE(demands_->Check(Owner("b")).ok());
  cache_.SetState(RolesOf("foo"), DemandState::kForbidden,
                  absl::PermissionDeniedError("roles is forbidden: still"));
  EXPECT_THAT(SettleAndTake(), IsEmpty()) << "only the text is another";

  cache_.SetState(RolesOf("foo"), DemandState::kSynced);
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
  EXPECT_TRUE(demands_->Check(Owner("a")).ok());
}

TEST_F(DemandSetTest, EachChangeOfADemandsStateIsARequestForItsOwners) {
  StartWithDemands();
  demands_->Replace(Owner("a"), {{RolesOf("foo")}});
  (void)SettleAndTake();
  const absl::Status why = absl::UnavailableError("why");
  for (const DemandState state :
       {DemandState::kKindAbsent, DemandState::kSynced, DemandState::kStale,
        DemandState::kForbidden, DemandState::kPending, DemandState::kSynced}) {
    cache_.SetState(RolesOf("foo"), state, state == DemandState::kSynced ? absl::OkStatus() : why);
    EXPECT_THAT(SettleAndTake(), ElementsAre("a")) << ToString(state);
  }
}

TEST_F(DemandSetTest, CheckReportsADenialBeforeWhatWillPass) {
  StartWithDemands();
  cache_.SetState(RolesOf("stale"), DemandState::kStale, absl::UnavailableError("down"));
  cache_.SetState(RolesOf("absent"), DemandState::kKindAbsent, absl::NotFoundError("no kind"));
  for (const char* ns : {"denied", "denied-2", "denied-3"}) {
    cache_.SetState(RolesOf(ns), DemandState::kForbidden, absl::PermissionDeniedError("no"));
  }
  cache_.SetState(RolesOf("large"), DemandState::kPending,
                  absl::ResourceExhaustedError("too large"));
  struct Row {
    std::vector<std::string> namespaces;
    absl::StatusCode code;
    const char* message;
  };
  const Row rows[] = {
      {{}, absl::StatusCode::kOk, ""},
      {{"foo"}, absl::StatusCode::kOk, ""},
      {{"foo", "stale"},
       absl::StatusCode::kUnavailable,
       "roles.rbac.authorization.k8s.io in namespace stale is Stale: down"},
      {{"absent", "foo"}, absl::StatusCode::kNotFound, "is KindAbsent: no kind"},
      {{"absent", "stale"}, absl::StatusCode::kNotFound, "no kind"},
      {{"large", "stale"}, absl::StatusCode::kResourceExhausted, "is Pending: too large"},
      {{"stale", "denied", "foo", "absent"}, absl::StatusCode::kPermissionDenied, "no"},
      {{"denied", "denied-2"},
       absl::StatusCode::kPermissionDenied,
       "no (another demand is denied, too)"},
      {{"denied", "absent", "denied-2", "denied-3"},
       absl::StatusCode::kPermissionDenied,
       "no (2 more are denied, too)"},
  };
  for (const Row& row : rows) {
    std::vector<SelectedDemand> demands;
    for (const std::string& ns : row.namespaces) demands.push_back({RolesOf(ns)});
    demands_->Replace(Owner("a"), demands);
    (void)SettleAndTake();
    const absl::Status status = demands_->Check(Owner("a"));
    EXPECT_EQ(status.code(), row.code) << status;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.message));
  }
  EXPECT_EQ(demands_->StatusOf(RolesOf("denied"))->state, DemandState::kForbidden);
  EXPECT_EQ(demands_->StatusOf(RolesOf("never")), std::nullopt);
}

TEST_F(DemandSetTest, ADeletedOwnerIsReleased) {
  Lease lease = PutLease("a");
  StartWithDemands();
  demands_->Replace(OwnerOf(lease), {{RolesOf("foo")}});
  (void)SettleAndTake();
  cache_.Remove(kLease, {"", "a"});
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
  EXPECT_THAT(cache_.demands(), ElementsAre(DemandSpec{kLease, "", ""}));

  // The new owner of that name is not released by the end of the old one.
  demands_->Replace(Owner("a", "new"), {{RolesOf("foo")}});
  demands_->Release(OwnerOf(lease));
  EXPECT_EQ(cache_.demands().size(), 2);
}

TEST_F(DemandSetTest, GetDeclaresWaitsAndReads) {
  StartWithDemands();
  PutRole("foo", "r");
  demands_->Replace(Owner("a"), {{RolesOf("bar")}});
  (void)SettleAndTake();
  GetInBackground(Within(absl::Seconds(5)), "foo", "r");
  (void)SettleAndTake();
  ASSERT_TRUE(got_.has_value());
  EXPECT_TRUE(got_->ok()) << *got_;
  EXPECT_THAT(cache_.demands(), UnorderedElementsAre(DemandSpec{kLease, "", ""}, RolesOf("bar"),
                                                     DemandSpec{kRole, "foo", "r"}));
  GetInBackground(Within(absl::Seconds(5)), "foo", "absent");
  (void)SettleAndTake();
  EXPECT_TRUE(absl::IsNotFound(*got_)) << *got_;
  // A change of the object is a request for the owner.
  PutRole("foo", "r", {{"changed", ""}});
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
}

// A tenant may have left it empty.
TEST_F(DemandSetTest, GetWithoutANameDoesNotDemandTheNamespace) {
  StartWithDemands();
  GetInBackground(Within(absl::Seconds(5)), "foo", "");
  (void)SettleAndTake();
  ASSERT_TRUE(got_.has_value());
  EXPECT_EQ(*got_,
            absl::PermissionDeniedError("the demand of roles has an empty name: nothing was sent"));
  EXPECT_THAT(cache_.demands(), ElementsAre(DemandSpec{kLease, "", ""}));
}

TEST_F(DemandSetTest, GetEndsByDenialByTimeByReleaseAndByStop) {
  StartWithDemands();
  const DemandSpec spec = {kRole, "foo", "r"};
  std::stop_source stop;
  struct Row {
    const char* name;
    absl::StatusCode code;
    std::function<void()> after_a_second;
    absl::Duration takes;
  };
  const Row rows[] = {
      {"time", absl::StatusCode::kDeadlineExceeded, [] {}, absl::Seconds(5)},
      {"release", absl::StatusCode::kCancelled, [&] { demands_->Release(Owner("a")); },
       absl::Seconds(1)},
      {"stop", absl::StatusCode::kCancelled, [&] { stop.request_stop(); }, absl::Seconds(1)},
      {"denial", absl::StatusCode::kPermissionDenied,
       [&] { cache_.SetState(spec, DemandState::kForbidden, absl::PermissionDeniedError("no")); },
       absl::Seconds(1)},
      {"memory", absl::StatusCode::kResourceExhausted,
       [&] {
         cache_.SetState(spec, DemandState::kPending, absl::ResourceExhaustedError("too large"));
       },
       absl::Seconds(1)},
      {"failure", absl::StatusCode::kDeadlineExceeded,
       [&] { cache_.SetState(spec, DemandState::kPending, absl::UnavailableError("refused")); },
       absl::Seconds(5)},
      // The same code, of a server that throttles.
      {"throttled", absl::StatusCode::kDeadlineExceeded,
       [&] {
         cache_.SetState(spec, DemandState::kPending, StatusFromResponse(429, "too many requests"));
       },
       absl::Seconds(5)},
      {"end", absl::StatusCode::kCancelled, [&] { demands_->Close(); }, absl::Seconds(1)},
  };
  for (const Row& row : rows) {
    cache_.SetState(spec, DemandState::kPending);
    const absl::Time start = loop_.clock().TimeNow();
    loop_.PostAt(start + absl::Seconds(1), row.after_a_second);
    CallContext context = Within(absl::Seconds(5));
    stop = std::stop_source();
    context.stop = stop.get_token();
    GetInBackground(context, "foo", "r");
    ASSERT_TRUE(loop_.RunUntil([&] { return got_.has_value(); }, absl::Minutes(1))) << row.name;
    EXPECT_EQ(got_->code(), row.code) << row.name << ": " << *got_;
    EXPECT_NEAR(absl::ToDoubleSeconds(loop_.clock().TimeNow() - start),
                absl::ToDoubleSeconds(row.takes), 0.1)
        << row.name;
    demands_->Release(Owner("a"));
    loop_.RunFor(absl::Seconds(10));
  }
}

TEST_F(DemandSetTest, AStoppedControllerHasNoDemands) {
  StartWithDemands();
  demands_->Replace(Owner("a"), {{RolesOf("foo")}});
  (void)SettleAndTake();
  Stop();
  loop_.RunFor(absl::Seconds(1));
  demands_->Replace(Owner("b"), {{RolesOf("foo")}});  // of a reconciler that still runs
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(cache_.demands(), IsEmpty());
}

TEST_F(DemandSetTest, RequestsBeyondTheQueueAreMadeLater) {
  controller_options_.queue.max_items = 2;
  for (const char* name : {"a", "b", "c", "d"}) PutLease(name);
  StartWithDemands();
  loop_.RunFor(absl::Minutes(1));
  (void)TakeDistinctNames();
  for (const char* name : {"a", "b", "c", "d"}) {
    demands_->Replace(Owner(name), {{RolesOf("foo")}});
  }
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(TakeDistinctNames(), UnorderedElementsAre("a", "b", "c", "d"));
}

}  // namespace
}  // namespace mandate
