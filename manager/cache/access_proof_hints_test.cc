// Hints that the access may have changed.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "manager/cache/testing/access_proof_fixture.h"

namespace mandate {
namespace {

class AccessProofHintsTest : public AccessProofFixture {};

TEST_F(AccessProofHintsTest, AHintWaitsForTheBudget) {
  std::vector<std::unique_ptr<ProbeBudget::Ticket>> others(20 + 5);
  for (auto& ticket : others) {
    ticket = probes_.Ask(client_.component(), {}, ProbeBudget::Urgency::kHint,
                         [&ticket] { ticket.reset(); });
  }
  AccessProof& proof = MakeChecked(false, false);
  ASSERT_EQ(proof.state(), State::kDenied);
  client_.ForgetRequests();
  Allow(true, true);
  proof.CheckSoon();
  loop_.RunFor(absl::Seconds(0.9));
  EXPECT_EQ(reviews(), 0u);
  loop_.RunFor(absl::Seconds(0.5));
  EXPECT_EQ(reviews(), 1u);
  EXPECT_EQ(proof.state(), State::kProven);
}

// The first hint may come before the server has the grant.
TEST_F(AccessProofHintsTest, AfterAHintTheNextProbeComesSoon) {
  AccessProof& proof = MakeChecked(false, false);
  loop_.RunFor(absl::Minutes(5));
  proof.CheckSoon();
  loop_.RunFor(absl::Milliseconds(500));
  ASSERT_EQ(proof.state(), State::kDenied);
  Allow(true, true);
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(proof.state(), State::kProven);
}

// Access that is not known yet does not wait for hints about denied scopes.
TEST_F(AccessProofHintsTest, WhatIsNotKnownYetHasABudgetOfItsOwn) {
  std::vector<std::unique_ptr<ProbeBudget::Ticket>> others;
  for (int i = 0; i < 20 + 5; ++i) {
    others.push_back(probes_.Ask(client_.component(), {}, ProbeBudget::Urgency::kHint, [] {}));
  }
  Make().CheckSoon();
  loop_.RunReady();
  EXPECT_EQ(proof_->state(), State::kProven);
}

TEST_F(AccessProofHintsTest, AHintOvertakesARenewal) {
  AccessProof& proof = MakeProven();
  const std::shared_ptr<FakeWatch> renewal = NextRenewal();
  Deny();
  CheckAndRun();
  EXPECT_EQ(proof.state(), State::kDenied);
  EXPECT_TRUE(renewal->cancelled());
}

TEST_F(AccessProofHintsTest, HintsAreBoundedAndNotLost) {
  AccessProof& proof = Make();
  for (int i = 0; i < 100; ++i) {
    proof.Check();
    loop_.RunFor(absl::Milliseconds(100));
  }
  EXPECT_LE(reviews(), 12u) << "one a second";
  // The right is revoked just after the last answer, and a hint comes right then.
  loop_.RunFor(absl::Seconds(5));
  proof.Check();
  CheckAndRun();
  Deny();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(proof.state(), State::kDenied);
}

// The right was revoked after the server's answer, which is still on its way.
TEST_F(AccessProofHintsTest, AnAnswerFromBeforeAHintProvesNothing) {
  for (const bool was_denied : {false, true}) {
    SCOPED_TRACE(was_denied);
    client_.SetDelay([] { return absl::ZeroDuration(); });
    was_denied ? MakeChecked(false, false) : Make();
    loop_.RunFor(absl::Seconds(2));
    Allow(true, true);
    client_.SetDelay([] { return absl::Milliseconds(300); });  // of each way
    proof_->CheckSoon();
    loop_.RunFor(absl::Milliseconds(400));
    Deny();
    proof_->CheckSoon();
    loop_.RunFor(absl::Milliseconds(300));
    EXPECT_EQ(proof_->state(), State::kUnknown);
    loop_.RunFor(absl::Milliseconds(600));
    EXPECT_EQ(proof_->state(), State::kDenied) << "it is asked again at once";
  }
}

TEST_F(AccessProofHintsTest, AnAcceptedWatchKeepsAWaitingHint) {
  AccessProof& proof = MakeProven();
  Deny();
  proof.Check();
  proof.NoteProven(loop_.clock().TimeNow());
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(proof.state(), State::kDenied);
}

// The same for a hint that waits for the budget, as each hint does (SharedWatch::RecheckAccess).
TEST_F(AccessProofHintsTest, AnAcceptedWatchKeepsAHintThatWaitsForTheBudget) {
  AccessProof& proof = MakeProven();
  loop_.RunFor(absl::Seconds(2));
  Deny();
  proof.CheckSoon();
  proof.NoteProven(loop_.clock().TimeNow());
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(proof.state(), State::kDenied);
}

TEST_F(AccessProofHintsTest, ARenewalKeepsAWaitingHint) {
  options_.min_interval = absl::Minutes(5);
  AccessProof& proof = MakeProven();
  const std::shared_ptr<FakeWatch> renewal = NextRenewal();
  Deny();
  proof.Check();
  renewal->Open();
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(proof.state(), State::kDenied);
}

TEST_F(AccessProofHintsTest, ARefusalDropsTheNextCheck) {
  AccessProof& proof = Make();
  proof.Check();
  proof.Check();
  proof.NoteDenied(absl::PermissionDeniedError("403"));
  proof.NoteProven(loop_.clock().TimeNow());
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(reviews(), 1u) << "the one that was under way";
}

}  // namespace
}  // namespace mandate
