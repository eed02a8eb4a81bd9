// Hints that access may have changed: each is followed by a check, at a bounded rate.
#include <gtest/gtest.h>

#include <memory>

#include "manager/cache/testing/access_proof_fixture.h"

namespace mandate {
namespace {

using AccessProofHintsTest = AccessProofTest;

TEST_F(AccessProofHintsTest, AHintOvertakesARenewal) {
  AccessProof& proof = MakeProven();
  const std::shared_ptr<FakeWatch> renewal = NextRenewal();
  Allow(true, false);
  proof.Check();
  loop_.RunReady();
  EXPECT_EQ(proof.state(), State::kRefused);
  EXPECT_TRUE(renewal->cancelled());
}

TEST_F(AccessProofHintsTest, HintsAreBoundedAndNotLost) {
  Allow(true, true);
  AccessProof& proof = Make();
  for (int i = 0; i < 100; ++i) {
    proof.Check();
    loop_.RunFor(absl::Milliseconds(100));
  }
  EXPECT_LE(reviews(), 24u) << "two a second";
  // Revoked just after the last answer, with a hint right then.
  loop_.RunFor(absl::Seconds(5));
  proof.Check();
  proof.Check();
  loop_.RunReady();
  Allow(false, true);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(proof.state(), State::kRefused);
}

TEST_F(AccessProofHintsTest, AHintThatHasToWaitIsNotLostOverAnAcceptedWatch) {
  AccessProof& proof = MakeProven();
  Allow(false, true);
  proof.Check();
  proof.NoteProven();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(proof.state(), State::kRefused);
}

TEST_F(AccessProofHintsTest, AHintThatHasToWaitIsNotLostOverARenewal) {
  options_.min_interval = absl::Minutes(5);
  AccessProof& proof = MakeProven();
  const std::shared_ptr<FakeWatch> renewal = NextRenewal();
  Allow(false, true);
  proof.Check();
  renewal->Open();
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(proof.state(), State::kRefused);
}

TEST_F(AccessProofHintsTest, ARefusalDropsTheQuestionThatWasToFollow) {
  Allow(true, true);
  AccessProof& proof = Make();
  proof.Check();
  proof.Check();
  proof.NoteRefused(absl::PermissionDeniedError("403"));
  proof.NoteProven();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(reviews(), 2u) << "which were on their way";
}

}  // namespace
}  // namespace mandate
