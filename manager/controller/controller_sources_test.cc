// The start of workers, and the controller's report about its sources.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "manager/controller/controller.h"
#include "manager/controller/testing/controller_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ControllerSourcesTest : public ControllerTest {};

// Workers wait for the reconciled kind in every state, and for other kinds while their list runs.
TEST_F(ControllerSourcesTest, WorkersWaitForTheReconciledKindAndForListsUnderWay) {
  const absl::Status why = absl::UnavailableError("because");
  const struct {
    KindInfo kind;
    DemandStatus status;
  } rows[] = {
      {kLease, {DemandState::kPending, why}},
      {kLease, {DemandState::kPending, why, /*failed=*/true}},
      {kLease, {DemandState::kForbidden, why, /*failed=*/true}},
      {kLease, {DemandState::kKindAbsent, why, /*failed=*/true}},
      {kRole, {DemandState::kPending, why}},
  };
  PutLease("a");
  PutRole("r");
  for (const auto& row : rows) {
    SCOPED_TRACE(row.kind.plural);
    SCOPED_TRACE(ToString(row.status.state));
    const int starts = log_->Count("Starting workers");
    cache_.SetStatus(row.kind, row.status);
    Start({Reconciled(kLease), Of(kRole)});
    loop_.RunFor(absl::Hours(1));
    EXPECT_TRUE(names_.empty());
    EXPECT_TRUE(absl::IsUnavailable(controller_->Ready()));
    EXPECT_THAT(NotReady(), HasSubstr(StrCat("waits for ", row.kind.plural)));

    cache_.SetState(row.kind, DemandState::kSynced);
    EXPECT_THAT(SettleAndTake(), UnorderedElementsAre("a", "r"));
    EXPECT_TRUE(controller_->Ready().ok());
    EXPECT_EQ(log_->Count("Starting workers"), starts + 1);
    Stop();
  }
}

// A source that fails or is forbidden from the start does not hold up a revocation.
TEST_F(ControllerSourcesTest, WorkersDoNotWaitForAnotherKindThatCannotBeRead) {
  const absl::Status why = absl::UnavailableError("because");
  const struct {
    DemandStatus status;
    absl::Duration timeout;
  } rows[] = {
      {{DemandState::kForbidden, why, /*failed=*/true}, absl::ZeroDuration()},
      {{DemandState::kKindAbsent, why, /*failed=*/true}, absl::ZeroDuration()},
      {{DemandState::kPending, why, /*failed=*/true}, absl::Seconds(10)},
      {{DemandState::kStale, why, /*failed=*/true}, absl::Seconds(10)},
  };
  PutLease("a");
  PutRole("r");
  for (const auto& row : rows) {
    SCOPED_TRACE(ToString(row.status.state));
    cache_.SetStatus(kRole, row.status);
    Start({Reconciled(kLease), Of(kRole)});
    if (row.timeout > absl::ZeroDuration()) {
      loop_.RunFor(row.timeout - absl::Milliseconds(10));
      EXPECT_TRUE(names_.empty());
    }
    loop_.RunFor(absl::Milliseconds(20));
    EXPECT_THAT(TakeNames(), ElementsAre("a"));
    EXPECT_THAT(NotReady(), AllOf(HasSubstr("waits for roles"), HasSubstr("because")));
    // Objects that failed without the kind are tried again, and all others are resynced.
    cache_.SetState(kRole, DemandState::kSynced);
    EXPECT_THAT(SettleAndTake(), UnorderedElementsAre("a", "r"));
    EXPECT_TRUE(controller_->Ready().ok());
    Stop();
  }
}

// Workers do not start without the kind after one failure: its next list may be long.
TEST_F(ControllerSourcesTest, WorkersWaitForAListThatRunsAgain) {
  const absl::Status why = absl::UnavailableError("because");
  controller_options_.initial_sync_timeout = absl::Seconds(5);
  PutLease("a");
  cache_.SetStatus(kRole, {DemandState::kPending, why, /*failed=*/true});
  Start({Reconciled(kLease), Of(kRole)});
  cache_.SetStatus(kRole, {DemandState::kPending, why});
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(names_.empty());
  cache_.SetStatus(kRole, {DemandState::kPending, why, /*failed=*/true});
  loop_.RunFor(absl::Milliseconds(4990));
  EXPECT_TRUE(names_.empty());
  loop_.RunFor(absl::Milliseconds(20));
  EXPECT_THAT(TakeNames(), ElementsAre("a"));
}

TEST_F(ControllerSourcesTest, RequestsThatFailedWithoutAKindAreRetriedWhenItIsListed) {
  PutLease("a");
  reconcile_ = [this](const CallContext& context, const Request&) -> absl::StatusOr<Result> {
    const auto roles = cache_.List<Role>(context);
    return roles.ok() ? absl::StatusOr<Result>(Result{}) : roles.status();
  };
  Deny(kRole);
  Source roles = Of(kRole);
  roles.handler = [](const ObjectEvent&, std::vector<mandate::Request>&) {
    return absl::OkStatus();
  };
  Start({Reconciled(kLease), roles});
  loop_.RunFor(absl::Minutes(10));  // the next retry is minutes away
  EXPECT_EQ(Counter("controller_runtime_reconcile_total", {{"result", "success"}}), 0);
  // A resync does not find it.
  cache_.Remove(kLease, {"", "a"});
  loop_.RunFor(absl::Minutes(10));
  cache_.SetState(kRole, DemandState::kSynced);
  loop_.RunFor(absl::Milliseconds(10));
  EXPECT_EQ(Counter("controller_runtime_reconcile_total", {{"result", "success"}}), 1);
  EXPECT_EQ(log_->Count("Source is synced now"), 1);
}

// This includes objects without events, because their status depends on objects that cannot be read
// now.
TEST_F(ControllerSourcesTest, AForbiddenKindCausesAReconcileOfEveryObject) {
  PutLease("a");
  PutLease("b");
  StartAndSettle({Reconciled(kLease), Of(kRole)});
  const absl::Status no = absl::PermissionDeniedError("no");
  cache_.SetState(kRole, DemandState::kStale, absl::UnavailableError("connection refused"));
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(TakeNames(), IsEmpty()) << "its last state is known";
  for (const DemandState denied : {DemandState::kForbidden, DemandState::kKindAbsent}) {
    SCOPED_TRACE(ToString(denied));
    cache_.SetState(kRole, denied, no);
    loop_.RunFor(absl::Seconds(2));
    EXPECT_THAT(TakeNames(), ElementsAre("a", "b"));
    cache_.SetState(kRole, DemandState::kPending, no);
    cache_.SetState(kRole, denied, no);
    loop_.RunFor(absl::Minutes(1));
    EXPECT_THAT(TakeNames(), IsEmpty()) << "once until it is back";
    cache_.SetState(kRole, DemandState::kSynced);
    loop_.RunFor(absl::Minutes(1));
    TakeNames();
  }
  // No status can report it when the reconciled kind itself is forbidden.
  const int resyncs = log_->Count("Mapping all objects again");
  Deny(kLease);
  Deny(kRole);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(log_->Count("Mapping all objects again"), resyncs);
}

// The status of the last known objects is wrong now, too.
TEST_F(ControllerSourcesTest, AForbiddenKindIsReportedWhileTheReconciledOneIsStale) {
  PutLease("a");
  StartAndSettle({Reconciled(kLease), Of(kRole)});
  cache_.SetState(kLease, DemandState::kStale, absl::UnavailableError("connection refused"));
  Deny(kRole);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(TakeNames(), ElementsAre("a"));
}

// A first list that runs is not an error; a first list that failed is one.
TEST_F(ControllerSourcesTest, OnlyAFirstListThatFailsIsLogged) {
  const absl::Status reason = absl::UnavailableError("the first list is not complete yet");
  cache_.SetStatus(kLease, {DemandState::kPending, reason});
  Start({Of(kLease)});
  EXPECT_EQ(log_->Count("Source is not synced yet"), 0);
  EXPECT_THAT(NotReady(), HasSubstr("the first list"));
  cache_.SetStatus(kLease, {DemandState::kPending, reason, /*failed=*/true});
  EXPECT_EQ(log_->Count("INFO Source is not synced yet"), 1);
  cache_.SetState(kLease, DemandState::kSynced);
  EXPECT_EQ(log_->Count("INFO Source is synced now"), 1);
  cache_.SetStatus(kLease, {DemandState::kStale, reason});
  EXPECT_EQ(log_->Count("Source was lost"), 1) << "whatever comes next";
}

// A CRD that was created a second ago is served soon.
TEST_F(ControllerSourcesTest, AnAbsentKindIsAnErrorAfterAMinute) {
  const absl::Status why = absl::NotFoundError("the server does not serve leases");
  cache_.SetStatus(kLease, {DemandState::kKindAbsent, why, /*failed=*/true});
  Start({Of(kLease)});
  loop_.RunFor(absl::Seconds(59));
  EXPECT_EQ(log_->Count("INFO Source is not synced yet"), 1);
  EXPECT_EQ(log_->Count("ERROR"), 0);
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(log_->Count("ERROR Source is still not synced"), 1);
  EXPECT_THAT(log_->Last("still not synced"), HasSubstr("the server does not serve leases"));
  cache_.SetState(kLease, DemandState::kSynced);
  EXPECT_EQ(log_->Count("INFO Source is synced now"), 1);
  EXPECT_EQ(log_->Count("leases.coordination.k8s.io"), 3) << "one line for each transition";
}

TEST_F(ControllerSourcesTest, AnErrorWithAManifestIsOneShortLine) {
  const absl::Status why = absl::UnavailableError(
      "no token: ServiceAccount a/b does not exist. Apply it:\napiVersion: v1\nkind: "
      "ServiceAccount\n");
  cache_.SetStatus(kLease, {DemandState::kPending, why, /*failed=*/true});
  Start({Of(kLease)});
  EXPECT_THAT(log_->Last("Source is not synced yet"),
              HasSubstr("does not exist; /readyz?verbose shows the manifest to apply"));
}

// Other controllers exit, or hang without a log line, when one permission is missing.
TEST_F(ControllerSourcesTest, ReportsWhyASourceIsForbidden) {
  const absl::Status forbidden =
      absl::PermissionDeniedError("scope-instance may not list and watch roles");
  cache_.SetState(kRole, DemandState::kForbidden, forbidden);
  Start({Reconciled(kLease), Of(kRole)});
  loop_.RunFor(absl::Hours(1));
  EXPECT_TRUE(absl::IsPermissionDenied(controller_->Ready()));
  EXPECT_THAT(NotReady(), HasSubstr("scope-instance may not list and watch roles"));
  EXPECT_EQ(log_->Count("INFO Source is not synced yet"), 1);
  EXPECT_EQ(log_->Count("ERROR"), 0) << "the preflight reports it";
  EXPECT_EQ(log_->Count("Starting workers"), 1);

  cache_.SetState(kRole, DemandState::kSynced);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(controller_->Ready().ok());
}

TEST_F(ControllerSourcesTest, AForbiddenSourceMayBeOptional) {
  controller_options_.forbidden_sources_are_ready = true;
  cache_.SetState(kRole, DemandState::kForbidden, absl::PermissionDeniedError("no"));
  Start({Of(kLease), Of(kRole)});
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(controller_->Ready(), absl::OkStatus());
  cache_.SetState(kRole, DemandState::kStale, absl::ResourceExhaustedError("too large"));
  EXPECT_EQ(controller_->Ready(), absl::OkStatus());
  cache_.SetState(kRole, DemandState::kPending, absl::UnavailableError("connection refused"));
  EXPECT_THAT(NotReady(), HasSubstr("connection refused")) << "that is another reason";
}

TEST_F(ControllerSourcesTest, ALostSourceDegradesReadinessAndWorkGoesOn) {
  PutLease("a");
  StartAndSettle({Of(kLease), Of(kRole)});
  cache_.SetState(kRole, DemandState::kStale, absl::UnavailableError("connection refused"));
  EXPECT_TRUE(absl::IsUnavailable(controller_->Ready()));
  EXPECT_THAT(NotReady(), HasSubstr("lost roles"));
  EXPECT_THAT(NotReady(), HasSubstr("connection refused"));
  EXPECT_EQ(log_->Count("Source was lost"), 1);
  PutLease("a", "x");
  EXPECT_THAT(SettleAndTake(), ElementsAre("a"));
  cache_.SetState(kRole, DemandState::kSynced);
  EXPECT_TRUE(controller_->Ready().ok());
  EXPECT_EQ(log_->Count("Source is synced again"), 1);
  EXPECT_EQ(log_->Count("Starting workers"), 1);
}

TEST_F(ControllerSourcesTest, LogsEachReasonOfALostSourceOnce) {
  Start({Of(kRole)});
  const absl::Status why = absl::UnavailableError("because");
  const struct {
    DemandState state;
    absl::Status reason;
    int lines;
  } rows[] = {
      {DemandState::kStale, why, 1},
      {DemandState::kForbidden, why, 2},  // the same reason, another state
      {DemandState::kForbidden, why, 2},
      {DemandState::kKindAbsent, absl::NotFoundError("no such kind"), 3},
      {DemandState::kPending, absl::OkStatus(), 3},
      {DemandState::kSynced, absl::OkStatus(), 3},
      // Reasons that alternate during one state give one log line each.
      {DemandState::kStale, why, 4},
      {DemandState::kStale, absl::InternalError("etcd"), 5},
      {DemandState::kStale, absl::UnavailableError("because, again"), 5},
      {DemandState::kStale, absl::InternalError("etcd, again"), 5},
      {DemandState::kSynced, absl::OkStatus(), 5},
      {DemandState::kStale, why, 6},
  };
  for (const auto& row : rows) {
    cache_.SetState(kRole, row.state, row.reason);
    EXPECT_EQ(log_->Count("ERROR Source was lost"), row.lines) << ToString(row.state);
  }
}

TEST_F(ControllerSourcesTest, FailedRequestsAreRetriedWhenALostSourceIsLiveAgain) {
  PutLease("a");
  bool live = true;
  reconcile_ = [&](const CallContext&, const Request&) -> absl::StatusOr<Result> {
    if (!live) return absl::UnavailableError("the cache is stale");
    return Result{};
  };
  StartAndSettle({Of(kLease), Of(kRole)});
  live = false;
  cache_.SetState(kRole, DemandState::kStale, absl::UnavailableError("connection refused"));
  PutLease("a", "x");
  loop_.RunFor(absl::Minutes(10));  // the next retry is minutes away
  live = true;
  const double successes = Counter("controller_runtime_reconcile_total", {{"result", "success"}});
  cache_.SetState(kRole, DemandState::kSynced);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Counter("controller_runtime_reconcile_total", {{"result", "success"}}), successes + 1);
}

}  // namespace
}  // namespace mandate
