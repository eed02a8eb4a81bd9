#include "controllers/write_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "manager/cache/testing/fake_cache_view.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

using rbacv1::ClusterRole;
using rbacv1::RoleBinding;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr KindInfo kBinding = KindOf<RoleBinding>::value;
constexpr absl::Duration kForbiddenRetry = absl::Minutes(5);

absl::Status Error(int code, std::string_view reason, std::string_view message) {
  return StatusFromResponse(code, std::string(R"({"kind":"Status","reason":")") +
                                      std::string(reason) + R"(","message":")" +
                                      std::string(message) + "\"}");
}
const absl::Status kForbidden = Error(403, "Forbidden", "may not");
const absl::Status kBusy = Error(429, "TooManyRequests", "later");
const absl::Status kConflict = Error(409, "Conflict", "another uid");
const absl::Status kGone = Error(404, "NotFound", "gone");

template <class T>
absl::StatusOr<T> Written(std::string_view resource_version) {
  T object;
  object.mutable_metadata()->set_resourceversion(std::string(resource_version));
  return object;
}

class WriteLogTest : public testing::Test {
 protected:
  // "rolebindings@7" seen, "rolebindings foo/x -uid" gone; what AwaitSeen waited for.
  std::vector<std::string> Awaited() {
    std::vector<std::string> result;
    for (const FakeCacheView::Wait& wait : view_.waits()) {
      result.push_back(wait.uid.empty()
                           ? wait.plural + "@" + wait.resource_version
                           : wait.plural + " " + wait.key.ToString() + " -" + wait.uid);
    }
    return result;
  }

  SimulatedLoop loop_;
  FakeCacheView view_{loop_};
  WriteLog log_;
};

TEST_F(WriteLogTest, NothingWrittenIsNothingToWaitFor) {
  EXPECT_EQ(log_.AwaitSeen({}, view_), absl::OkStatus());
  EXPECT_THAT(Awaited(), IsEmpty());
  EXPECT_THAT(log_.failures(), IsEmpty());
  const auto result = log_.ToResult(kForbiddenRetry);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(result->requeue_after, absl::ZeroDuration());
}

TEST_F(WriteLogTest, WaitsForTheNewestWriteOfEachKind) {
  for (const char* version : {"9", "10", "8", "10"}) log_.Add("x", Written<RoleBinding>(version));
  for (const char* version : {"123", "99"}) log_.Add("x", Written<ClusterRole>(version));
  EXPECT_EQ(log_.AwaitSeen({}, view_), absl::OkStatus());
  EXPECT_THAT(Awaited(), ElementsAre("clusterroles@123", "rolebindings@10"));
}

TEST_F(WriteLogTest, WaitsForEachRemovalThatSucceededOneWayOrAnother) {
  const struct {
    absl::Status status;
    bool removed;
  } rows[] = {
      {absl::OkStatus(), true},
      {kGone, true},
      {absl::NotFoundError("the cache says so"), true},
      {kConflict, true},
      {Error(409, "AlreadyExists", "not of a deletion"), false},
      {kForbidden, false},
      {kBusy, false},
      {absl::AbortedError("not the server's"), false},
  };
  for (const auto& row : rows) {
    WriteLog log;
    log.AddRemoval("RoleBinding foo/x", kBinding, {"foo", "x"}, "u1", row.status);
    const size_t before = view_.waits().size();
    EXPECT_EQ(log.AwaitSeen({}, view_), absl::OkStatus());
    EXPECT_EQ(view_.waits().size() - before, row.removed ? 1u : 0u) << row.status;
    if (row.removed) {
      EXPECT_EQ(Awaited().back(), "rolebindings foo/x -u1");
      EXPECT_THAT(log.failures(), IsEmpty());
    } else {
      EXPECT_THAT(log.failures(),
                  ElementsAre("deleting RoleBinding foo/x: " + std::string(row.status.message())));
    }
  }
}

TEST_F(WriteLogTest, AFailureStopsNeitherTheOthersNorTheirWait) {
  log_.Add("RoleBinding foo/a", absl::StatusOr<RoleBinding>(kBusy));
  log_.Add("RoleBinding foo/b", Written<RoleBinding>("7"));
  log_.Add("ClusterRole c", absl::StatusOr<ClusterRole>(kForbidden));
  log_.AddRemoval("RoleBinding foo/d", kBinding, {"foo", "d"}, "u4", absl::OkStatus());
  EXPECT_THAT(log_.failures(), ElementsAre("RoleBinding foo/a: later", "ClusterRole c: may not"));
  EXPECT_EQ(log_.AwaitSeen({}, view_), absl::OkStatus());
  EXPECT_THAT(Awaited(), ElementsAre("rolebindings@7", "rolebindings foo/d -u4"));
}

TEST_F(WriteLogTest, WaitsWithinItsContextAndTellsTheFirstError) {
  const absl::Time deadline = loop_.clock().TimeNow() + absl::Seconds(3);
  log_.Add("x", Written<ClusterRole>("1"));
  log_.Add("x", Written<RoleBinding>("2"));
  log_.AddRemoval("x", kBinding, {"foo", "d"}, "u4", absl::OkStatus());
  std::string refuse;
  view_.SetWaitHandler([&](const CallContext& context, const FakeCacheView::Wait& wait) {
    EXPECT_EQ(context.deadline, deadline);
    return wait.plural + wait.uid == refuse ? absl::DeadlineExceededError(refuse)
                                            : absl::OkStatus();
  });
  const struct {
    const char* refuse;
    size_t waits;
  } rows[] = {{"clusterroles", 1}, {"rolebindings", 2}, {"rolebindingsu4", 3}};
  for (const auto& row : rows) {
    refuse = row.refuse;
    const size_t before = view_.waits().size();
    EXPECT_EQ(log_.AwaitSeen({deadline, {}}, view_), absl::DeadlineExceededError(refuse));
    EXPECT_EQ(view_.waits().size() - before, row.waits) << refuse;
  }
}

TEST_F(WriteLogTest, ResultOfFailures) {
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
        log.Add("x", Written<RoleBinding>("1"));
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
