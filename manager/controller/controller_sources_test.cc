// What a controller waits for, and what it reports of the sources that it watches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "manager/controller/controller.h"
#include "manager/controller/testing/controller_fixture.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class ControllerSourcesTest : public ControllerTest {};

TEST_F(ControllerSourcesTest, WorkersWaitForEverySource) {
  PutLease("a");
  cache_.SetState(kRole, DemandState::kPending);
  Start({Of(kLease), Of(kRole)});
  loop_.RunFor(absl::Hours(1));
  EXPECT_TRUE(names_.empty());
  EXPECT_TRUE(absl::IsUnavailable(controller_->Ready()));
  EXPECT_THAT(std::string(controller_->Ready().message()), HasSubstr("waits for roles"));

  PutRole("r");
  cache_.SetState(kRole, DemandState::kSynced);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(TakeNames(), ElementsAre("a", "r"));
  EXPECT_TRUE(controller_->Ready().ok());
  EXPECT_EQ(log_->Count("Starting workers"), 1);
}

// A first list that is under way is no error; one that failed is.
TEST_F(ControllerSourcesTest, OnlyAFirstListThatFailsIsLogged) {
  const absl::Status reason = absl::UnavailableError("the first list is not in yet");
  cache_.SetStatus(kLease, {DemandState::kPending, reason});
  Start({Of(kLease)});
  EXPECT_EQ(log_->Count("Source is waited for"), 0);
  EXPECT_THAT(std::string(controller_->Ready().message()), HasSubstr("the first list"));
  cache_.SetStatus(kLease, {DemandState::kPending, reason, /*failed=*/true});
  EXPECT_EQ(log_->Count("Source is waited for"), 1);
  cache_.SetState(kLease, DemandState::kSynced);
  cache_.SetStatus(kLease, {DemandState::kStale, reason});
  EXPECT_EQ(log_->Count("Source was lost"), 1) << "whatever comes next";
}

// openshift and ray have processes that exit, or hang without a word, for one missing permission.
TEST_F(ControllerSourcesTest, AForbiddenSourceIsWaitedForAndSaysWhy) {
  PutLease("a");
  const absl::Status forbidden =
      absl::PermissionDeniedError("scope-instance may not list and watch roles");
  cache_.SetState(kRole, DemandState::kForbidden, forbidden);
  Start({Of(kLease), Of(kRole)});
  loop_.RunFor(absl::Hours(1));
  EXPECT_TRUE(absl::IsPermissionDenied(controller_->Ready()));
  EXPECT_THAT(std::string(controller_->Ready().message()),
              HasSubstr("scope-instance may not list and watch roles"));
  EXPECT_EQ(log_->Count("Source is waited for"), 1);
  EXPECT_TRUE(names_.empty());

  cache_.SetState(kRole, DemandState::kSynced);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(controller_->Ready().ok());
  EXPECT_THAT(TakeNames(), ElementsAre("a"));
}

TEST_F(ControllerSourcesTest, AnAbsentKindIsWaitedFor) {
  cache_.SetState(kLease, DemandState::kKindAbsent, absl::NotFoundError("no such kind"));
  Start({Of(kLease)});
  EXPECT_TRUE(absl::IsNotFound(controller_->Ready()));
  cache_.SetState(kLease, DemandState::kSynced);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(controller_->Ready().ok());
}

TEST_F(ControllerSourcesTest, ALostSourceDegradesReadinessAndWorkGoesOn) {
  PutLease("a");
  Start({Of(kLease), Of(kRole)});
  loop_.RunFor(absl::Seconds(1));
  TakeNames();
  cache_.SetState(kRole, DemandState::kStale, absl::UnavailableError("connection refused"));
  EXPECT_TRUE(absl::IsUnavailable(controller_->Ready()));
  EXPECT_THAT(std::string(controller_->Ready().message()), HasSubstr("lost roles"));
  EXPECT_THAT(std::string(controller_->Ready().message()), HasSubstr("connection refused"));
  EXPECT_EQ(log_->Count("Source was lost"), 1);
  PutLease("a", "x");
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(TakeNames(), ElementsAre("a"));
  cache_.SetState(kRole, DemandState::kSynced);
  EXPECT_TRUE(controller_->Ready().ok());
  EXPECT_EQ(log_->Count("Source is live again"), 1);
  EXPECT_EQ(log_->Count("Starting workers"), 1);
}

TEST_F(ControllerSourcesTest, EachWayInWhichASourceIsLostIsLoggedOnce) {
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
      // Reasons that alternate while a state lasts: one line each.
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

TEST_F(ControllerSourcesTest, WhatFailedIsTriedWhenALostSourceIsLiveAgain) {
  PutLease("a");
  bool live = true;
  reconcile_ = [&](const CallContext&, const Request&) -> absl::StatusOr<Result> {
    if (!live) return absl::UnavailableError("the cache is stale");
    return Result{};
  };
  Start({Of(kLease), Of(kRole)});
  loop_.RunFor(absl::Seconds(1));
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

TEST_F(ControllerSourcesTest, WarnsOfObjectsThatCannotBeReadAndStaysReady) {
  Start({Of(kLease), Of(kRole)});
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(controller_->Warning(), "");
  cache_.SetUnreadable(kRole, absl::DataLossError("roles: cannot read foo/deep"));
  EXPECT_EQ(controller_->Warning(), "roles: cannot read foo/deep");
  EXPECT_TRUE(controller_->Ready().ok());
  cache_.SetUnreadable(kLease, absl::DataLossError("leases: cannot read a"));
  EXPECT_EQ(controller_->Warning(), "leases: cannot read a; roles: cannot read foo/deep");
}

}  // namespace
}  // namespace mandate
