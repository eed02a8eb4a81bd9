#include "manager/controller/readiness.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(ReadinessTest, IsOkWithoutReasons) {
  Readiness readiness("controller a");
  readiness.AddSource("roles", {DemandState::kSynced, absl::OkStatus()}, true);
  EXPECT_TRUE(readiness.ToStatus().ok());
}

TEST(ReadinessTest, JoinsAllReasonsWithTheCodeOfTheFirst) {
  Readiness readiness("controller a");
  readiness.AddSource("roles", {DemandState::kSynced, absl::OkStatus()}, true);
  readiness.AddSource("leases", {DemandState::kForbidden, absl::PermissionDeniedError("may not")},
                      false);
  readiness.AddSource("pods", {DemandState::kStale, absl::UnavailableError("refused")}, true);
  readiness.AddSource("nodes", {DemandState::kPending, absl::OkStatus()}, false);
  readiness.Add(absl::StatusCode::kResourceExhausted, "its queue is full");
  EXPECT_EQ(readiness.ToStatus(),
            absl::PermissionDeniedError("controller a: waits for leases: may not; lost pods: "
                                        "refused; waits for nodes; its queue is full"));
}

TEST(ReadinessTest, ASourceWithoutAReasonIsUnavailable) {
  Readiness readiness("controller a");
  readiness.AddSource("nodes", {DemandState::kPending, absl::OkStatus()}, false);
  EXPECT_EQ(readiness.ToStatus(), absl::UnavailableError("controller a: waits for nodes"));
}

}  // namespace
}  // namespace mandate
