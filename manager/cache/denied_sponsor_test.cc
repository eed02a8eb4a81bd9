// A watch whose sponsor loses its access.
#include <gtest/gtest.h>

#include <string>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"

namespace mandate {
namespace {

using DeniedSponsorTest = SharingFixture;

// The server never authorizes an open watch again, so the sponsor proves its access as other
// members do.
TEST_F(DeniedSponsorTest, AfterASponsorsRevocation) {
  JoinBoth();
  server_.Revoke("a");
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(Code(*view_a_), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(of_a_.Take(), "purged:1 Forbidden");
  // b continues on a watch of its own, from the version of a's watch.
  EXPECT_TRUE(Reads(*view_b_));
  EXPECT_EQ(of_b_.Take(), "") << "nothing has changed for b";
  EXPECT_EQ(a_.live_watches(), 0u);
  ASSERT_EQ(b_.live_watches(), 1u);
  EXPECT_EQ(b_.watches()[0]->Query("resourceVersion"), "101");
  EXPECT_EQ(b_.Count("sendInitialEvents"), 0u);
  PutAndSettle("foo/y");
  EXPECT_EQ(of_b_.Take(), "+foo/y@102");
  EXPECT_EQ(of_a_.Take(), "");
  // a comes back as a joining member.
  server_.Grant("a");
  RetryAndSettle("a");
  EXPECT_EQ(of_a_.Take(), "+foo/x@101 +foo/y@102 Synced");
  EXPECT_EQ(a_.live_watches(), 0u);
}

TEST_F(DeniedSponsorTest, ClosesTheWatchWithoutASuccessor) {
  server_.Grant("a");
  of_a_ = DemandAndSettle(*view_a_);
  of_a_.Take();
  server_.Revoke("a");
  RetryAndSettle("a");
  EXPECT_EQ(of_a_.Take(), "purged:1 Forbidden");
  EXPECT_EQ(Code(*view_a_), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(server_.live_watches(), 0u) << "no component may see its objects";
  server_.Put("foo/y");
  server_.Grant("a");
  RetryAndSettle("a");
  EXPECT_EQ(of_a_.Take(), "Pending +foo/x@101 +foo/y@102 Synced");
}

TEST_F(DeniedSponsorTest, ADeniedSponsorSendsNoReviews) {
  server_.Grant("a");
  of_a_ = DemandAndSettle(*view_a_);
  server_.Revoke("a");
  RetryAndSettle("a");
  const std::string reason(of_a_.handle->status().reason.message());
  EXPECT_EQ(reason.find("a may not "), 0u) << reason;
  EXPECT_NE(reason.find("grant it list and watch"), std::string::npos) << reason;
  EXPECT_EQ(reason.find("a may not ", 1), std::string::npos) << "only once: " << reason;
  a_.ForgetRequests();
  loop_.RunFor(absl::Minutes(20));
  EXPECT_EQ(a_.Count(kReviews), 0u);
  EXPECT_GT(a_.Count("watch=true"), 0u);
  EXPECT_EQ(of_a_.handle->status().reason.message(), reason) << "the review's reason stays";
}

TEST_F(DeniedSponsorTest, WhenTheSponsorIsDenied) {
  JoinBoth();
  server_.Revoke("a");
  // The watch ends, and a may not open it again.
  CloseWatch(a_);
  a_.ForgetRequests();
  loop_.RunReady();
  EXPECT_EQ(a_.Count(kReviews), 0u) << "its watch has just been refused";
  Settle();
  EXPECT_EQ(of_a_.Take(), "purged:1 Forbidden");
  EXPECT_TRUE(Reads(*view_b_));
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_EQ(of_b_.Take(), "Stale Synced");
}

TEST_F(DeniedSponsorTest, AJoinerReplacesASponsorWithoutAccess) {
  of_a_ = DemandAndSettle(*view_a_);
  EXPECT_EQ(of_a_.Take(), "Forbidden");
  server_.Grant("b");
  of_b_ = DemandAndSettle(*view_b_);
  EXPECT_EQ(of_b_.state(), DemandState::kSynced);
  EXPECT_TRUE(Reads(*view_b_));
  EXPECT_EQ(Code(*view_a_), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(of_a_.Take(), "");
  EXPECT_EQ(of_a_.sink->Content(), "");
}

// A member may outlive its last demand.
TEST_F(DeniedSponsorTest, ALingeringMemberThatIsDemandedAgainTakesOver) {
  options_.close_unused_watch_after = absl::Minutes(4);
  CreateAndAdd();
  JoinBoth();
  Leave(of_b_);
  server_.Revoke("a");
  CloseWatch(a_);
  Settle();
  ASSERT_EQ(of_a_.state(), DemandState::kForbidden);
  ASSERT_EQ(server_.live_watches(), 0u) << "no component with access demands it";
  of_b_ = Demand(*view_b_);
  loop_.RunReady();
  EXPECT_EQ(of_b_.state(), DemandState::kSynced)
      << "at once, and not when a has failed often enough";
  EXPECT_EQ(b_.live_watches(), 1u);
  EXPECT_EQ(of_a_.state(), DemandState::kForbidden);
}

// b may take over as soon as the server answers it again: until then nobody can read the objects,
// and they stay.
TEST_F(DeniedSponsorTest, WhileAnotherMembersProofHasExpired) {
  JoinBoth();
  EndRequests(b_, absl::UnavailableError("no answer"));
  loop_.RunFor(absl::Minutes(6));
  ASSERT_EQ(Code(*view_b_), absl::StatusCode::kUnavailable);
  of_b_.Take();
  server_.Revoke("a");
  CloseWatch(a_);
  Settle();
  EXPECT_EQ(of_a_.state(), DemandState::kForbidden);
  EXPECT_FALSE(Reads(*view_b_));
  b_.ForgetRequests();
  server_.Serve(b_);
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(of_b_.Take(), "Stale Synced") << "nothing was purged or came again";
  EXPECT_TRUE(Reads(*view_b_));
  EXPECT_EQ(b_.watches().back()->Query("resourceVersion"), "101") << "it continues a's watch";
  EXPECT_EQ(b_.Count("sendInitialEvents"), 0u);
}

}  // namespace
}  // namespace mandate
