#include "controllers/write_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

using rbacv1::ClusterRole;
using rbacv1::RoleBinding;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr absl::Duration kForbiddenRetry = absl::Minutes(5);

// `name` is the name of the object in the server's response.
absl::Status Error(int code, std::string_view reason, std::string_view message,
                   std::string_view name = "x") {
  return StatusFromResponse(
      code, StrCat(R"({"kind":"Status","reason":")", reason, R"(","message":")", message,
                   R"(","details":{"name":")", name, R"("}})"));
}
const absl::Status kForbidden = Error(403, "Forbidden", "may not");
const absl::Status kBusy = Error(429, "TooManyRequests", "later");
const absl::Status kConflict = Error(409, "Conflict", "another uid");
const absl::Status kGone = Error(404, "NotFound", "gone");

TEST(WriteLogTest, NothingFailed) {
  WriteLog log;
  log.Add("x", absl::StatusOr<RoleBinding>(RoleBinding()));
  EXPECT_THAT(log.failures(), IsEmpty());
  const auto result = log.ToResult(kForbiddenRetry);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->requeue_after, absl::ZeroDuration());
}

TEST(WriteLogTest, RemovalsSucceedOneWayOrAnother) {
  const struct {
    absl::Status status;
    bool removed;
  } rows[] = {
      {absl::OkStatus(), true},
      {kGone, true},
      {absl::NotFoundError("not the server's"), false},
      {kConflict, true},
      {Error(404, "NotFound", "a webhook says so", ""), false},
      {Error(409, "Conflict", "a webhook says so", ""), false},
      {Error(409, "Conflict", "a quota", "quota"), false},
      {Error(409, "AlreadyExists", "not of a deletion"), false},
      {kForbidden, false},
      {kBusy, false},
      {absl::AbortedError("not the server's"), false},
  };
  for (const auto& row : rows) {
    WriteLog log;
    log.AddRemoval("RoleBinding foo/x", "x", row.status);
    if (row.removed) {
      EXPECT_THAT(log.removal_failures(), IsEmpty()) << row.status;
    } else {
      EXPECT_THAT(log.removal_failures(),
                  ElementsAre("deleting RoleBinding foo/x: " + std::string(row.status.message())));
    }
  }
}

TEST(WriteLogTest, AFailureDoesNotStopTheOthers) {
  WriteLog log;
  log.Add("RoleBinding foo/a", absl::StatusOr<RoleBinding>(kBusy));
  log.Add("RoleBinding foo/b", absl::StatusOr<RoleBinding>(RoleBinding()));
  log.Add("ClusterRole c", absl::StatusOr<ClusterRole>(kForbidden));
  log.AddRemoval("RoleBinding foo/d", "d", absl::OkStatus());
  EXPECT_THAT(log.failures(), ElementsAre("RoleBinding foo/a: later", "ClusterRole c: may not"));
}

TEST(WriteLogTest, WhatDiffersAndWhatIsSkippedIsReportedAndNoError) {
  WriteLog log;
  EXPECT_FALSE(log.differs());
  log.AddDifference("ClusterRole c", "rules");
  log.AddSkipped("3 more");
  EXPECT_TRUE(log.differs());
  EXPECT_THAT(log.failures(),
              ElementsAre(testing::StartsWith(
                              "ClusterRole c: another writer (an admission plugin or another "
                              "controller) changes its rules after each of our writes"),
                          "3 more"));
  ASSERT_TRUE(log.ToResult(kForbiddenRetry).ok());
  EXPECT_EQ(log.ToResult(kForbiddenRetry)->requeue_after, absl::ZeroDuration());
}

TEST(WriteLogTest, ADeletionThatIsPendingIsReportedAndNoError) {
  WriteLog log;
  EXPECT_FALSE(log.pending());
  log.AddPending("RoleBinding foo/x");
  EXPECT_TRUE(log.pending());
  EXPECT_THAT(log.removal_failures(),
              ElementsAre("RoleBinding foo/x is being deleted: finalizers that were just added "
                          "block its deletion"));
  ASSERT_TRUE(log.ToResult(kForbiddenRetry).ok());
  EXPECT_EQ(log.ToResult(kForbiddenRetry)->requeue_after, absl::ZeroDuration());
}

TEST(WriteLogTest, ADeletionOfAnOutdatedVersionIsRetried) {
  WriteLog log;
  log.AddOutdated("RoleBinding foo/x", kConflict);
  EXPECT_THAT(log.removal_failures(), ElementsAre("deleting RoleBinding foo/x: another uid"));
  EXPECT_FALSE(log.ToResult(kForbiddenRetry).ok());
}

TEST(WriteLogTest, RemembersTheLongestRetryAfter) {
  WriteLog log;
  EXPECT_EQ(log.TakeRetryAfter(), absl::ZeroDuration());
  log.Add("a", absl::StatusOr<RoleBinding>(StatusFromResponse(429, "", absl::Seconds(3))));
  log.AddRemoval("b", "b", StatusFromResponse(403, "", absl::Seconds(5)));
  log.Add("c", absl::StatusOr<RoleBinding>(StatusFromResponse(503, "", absl::Seconds(4))));
  EXPECT_EQ(log.TakeRetryAfter(), absl::Seconds(5));
  EXPECT_EQ(log.TakeRetryAfter(), absl::ZeroDuration());
}

TEST(WriteLogTest, AForbiddenDeletionIsRetriedLikeAForbiddenWrite) {
  WriteLog log;
  log.AddRemoval("RoleBinding foo/x", "x", kForbidden);
  EXPECT_TRUE(log.forbidden());
  EXPECT_EQ(log.ToResult(kForbiddenRetry)->requeue_after, kForbiddenRetry);
}

TEST(WriteLogTest, ResultOfFailures) {
  const absl::Status refused_here = absl::PermissionDeniedError("no marker declares it");
  const absl::Status down = absl::UnavailableError("no connection");
  const struct {
    const char* name;
    std::vector<absl::Status> writes;
    absl::Status error;
    absl::Duration requeue;
  } rows[] = {
      {"all well", {absl::OkStatus(), absl::OkStatus()}, absl::OkStatus(), absl::ZeroDuration()},
      {"forbidden", {absl::OkStatus(), kForbidden}, absl::OkStatus(), kForbiddenRetry},
      {"refused by the guard", {refused_here}, absl::OkStatus(), kForbiddenRetry},
      {"failed", {absl::OkStatus(), kBusy, absl::OkStatus()}, kBusy, {}},
      {"the first that failed", {down, kBusy}, down, {}},
      {"a failure goes before what is forbidden", {kForbidden, kBusy, kForbidden}, kBusy, {}},
      {"a conflict is a failure of a write", {kConflict}, kConflict, {}},
      {"so is what is not there", {kGone}, kGone, {}},
  };
  for (const auto& row : rows) {
    WriteLog log;
    for (const absl::Status& status : row.writes) {
      if (status.ok()) {
        log.Add("x", absl::StatusOr<RoleBinding>(RoleBinding()));
      } else {
        log.Add("x", absl::StatusOr<RoleBinding>(status));
      }
    }
    const absl::StatusOr<Result> result = log.ToResult(kForbiddenRetry);
    EXPECT_EQ(result.status().code(), row.error.code()) << row.name;
    EXPECT_EQ(ApiReason(result.status()), ApiReason(row.error)) << row.name;
    if (!result.ok()) {
      EXPECT_EQ(result.status().message(), "x: " + std::string(row.error.message())) << row.name;
    }
    if (result.ok()) {
      EXPECT_EQ(result->requeue_after, row.requeue) << row.name;
    }
  }
}

}  // namespace
}  // namespace mandate
