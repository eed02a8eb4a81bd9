#include "manager/cache/access_proof.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "manager/cache/testing/access_proof_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

TEST_F(AccessProofTest, WithoutACredentialNothingIsProven) {
  const absl::Status why = absl::UnauthenticatedError("401");
  Allow(true, true);
  AccessProof& proof = Make();
  proof.NoteLost(why);
  EXPECT_EQ(proof.state(), State::kUnknown) << "nothing was";
  proof.Check();
  loop_.RunReady();
  ASSERT_EQ(proof.state(), State::kProven);
  up_ = false;
  proof.NoteLost(why);
  EXPECT_EQ(proof.state(), State::kExpired);
  EXPECT_NE(proof.reason().message().find("401"), std::string::npos);
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(proof.state(), State::kExpired);
  EXPECT_LT(reviews(), 60u);
  up_ = true;
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(proof.state(), State::kProven);
  Allow(false, true);
  proof.Check();
  loop_.RunFor(absl::Seconds(5));
  ASSERT_EQ(proof.state(), State::kRefused);
  proof.NoteLost(why);
  EXPECT_EQ(proof.state(), State::kRefused);
}

TEST_F(AccessProofTest, AnswersToALostCredentialAreNotHeard) {
  Allow(true, true);
  AccessProof& proof = Make();
  proof.Check();
  proof.NoteLost(absl::UnauthenticatedError("401"));
  loop_.RunReady();
  EXPECT_EQ(proof.state(), State::kUnknown);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(proof.state(), State::kProven) << "it asks again by itself";
}

TEST_F(AccessProofTest, ARenewalWithALostCredentialIsNotHeard) {
  AccessProof& proof = MakeProven();
  const std::shared_ptr<FakeWatch> renewal = NextRenewal();
  proof.NoteLost(absl::UnauthenticatedError("401"));
  EXPECT_TRUE(renewal->cancelled());
  EXPECT_EQ(proof.state(), State::kExpired);
}

TEST_F(AccessProofTest, AsksForListAndWatchOfExactlyTheScope) {
  Allow(true, true);
  AccessProof& proof = Make();
  EXPECT_EQ(proof.state(), State::kUnknown);
  EXPECT_EQ(reviews(), 0u);
  proof.Check();
  loop_.RunReady();
  EXPECT_EQ(proof.state(), State::kProven);
  EXPECT_TRUE(proof.reason().ok());
  EXPECT_EQ(changes_, 1);
  ASSERT_EQ(reviews(), 2u);
  EXPECT_EQ(client_.requests()[0], "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
  const auto& asked = last_.spec().resourceattributes();
  EXPECT_EQ(asked.resource(), "pods");
  EXPECT_EQ(asked.group(), "");
  EXPECT_EQ(asked.version(), "v1");
  EXPECT_EQ(asked.namespace_(), "foo");
  EXPECT_EQ(asked.name(), "bar");
}

TEST_F(AccessProofTest, NeedsBoth) {
  const std::pair<bool, bool> answers[] = {{false, true}, {true, false}, {false, false}};
  for (const auto& [list, watch] : answers) {
    Allow(list, watch);
    AccessProof& proof = Make();
    proof.Check();
    loop_.RunReady();
    EXPECT_EQ(proof.state(), State::kRefused);
    EXPECT_EQ(proof.reason().code(), absl::StatusCode::kPermissionDenied);
    const std::string text(proof.reason().message());
    EXPECT_NE(text.find(StrCat("reader may not ", list ? "watch" : "list",
                               " pods \"bar\" in namespace foo (because)")),
              text.npos)
        << text;
  }
}

TEST_F(AccessProofTest, IsRenewedByAShortWatchBeforeItEnds) {
  client_.OnWatch([](const auto& watch) { watch->Open(); });
  Allow(true, true);
  AccessProof& proof = Make();
  proof.Check();
  for (int round = 1; round <= 20; ++round) {
    loop_.RunReady();
    ASSERT_EQ(proof.state(), State::kProven);
    const absl::Time start = loop_.clock().TimeNow();
    ASSERT_TRUE(loop_.RunUntil([&] { return renewals() == static_cast<size_t>(round); }));
    const absl::Duration after = loop_.clock().TimeNow() - start;
    EXPECT_GE(after, 0.7 * options_.t_revoke);
    EXPECT_LE(after, 0.85 * options_.t_revoke);
    const auto& watch = client_.watches().back();
    EXPECT_EQ(watch->Query("resourceVersion"), "42");
    EXPECT_EQ(watch->Query("timeoutSeconds"), "1");
    EXPECT_EQ(watch->Query("fieldSelector"), "metadata.name=bar");
    EXPECT_EQ(watch->request().target.find("/api/v1/namespaces/foo/pods?"), 0u);
  }
  loop_.RunReady();
  EXPECT_EQ(reviews(), 2u) << "those of the beginning";
  EXPECT_EQ(client_.live_watches(), 0u);
  EXPECT_EQ(changes_, 1);
  EXPECT_EQ(counts_.renewals.Value(), 20);
}

TEST_F(AccessProofTest, WithoutAVersionReviewsRenew) {
  version_ = "";
  Allow(true, true);
  Make().Check();
  loop_.RunFor(options_.t_revoke);
  EXPECT_EQ(renewals(), 0u);
  EXPECT_EQ(reviews(), 4u);
  EXPECT_EQ(proof_->state(), State::kProven);
}

// Whatever becomes of the watch, the reviews decide.
TEST_F(AccessProofTest, ARenewalThatIsNotAcceptedIsReviewed) {
  const std::pair<const char*, std::function<void(FakeWatch&)>> ends[] = {
      {"403", [](FakeWatch& watch) { watch.Refuse(403, "{}"); }},
      {"500", [](FakeWatch& watch) { watch.Refuse(500, "{}"); }},
      {"cut", [](FakeWatch& watch) { watch.Close(absl::UnavailableError("reset")); }},
      {"silence", [](FakeWatch&) {}},
  };
  for (const auto& [name, end] : ends) {
    for (const bool still_allowed : {true, false}) {
      client_.OnWatch([&end = end](const auto& watch) { end(*watch); });
      Allow(true, true);
      AccessProof& proof = Make();
      proof.Check();
      loop_.RunReady();
      ASSERT_EQ(proof.state(), State::kProven);
      Allow(true, still_allowed);
      client_.ForgetRequests();
      const absl::Time start = loop_.clock().TimeNow();
      ASSERT_TRUE(loop_.RunUntil([&] { return reviews() == 2; })) << name;
      EXPECT_LT(loop_.clock().TimeNow() - start, options_.t_revoke) << name;
      loop_.RunReady();
      EXPECT_EQ(proof.state(), still_allowed ? State::kProven : State::kRefused) << name;
      EXPECT_EQ(client_.live_watches(), 0u) << name;
      proof_.reset();
    }
  }
}

TEST_F(AccessProofTest, ExpiresWithoutAResponse) {
  Allow(true, true);
  AccessProof& proof = Make();
  proof.Check();
  loop_.RunReady();
  up_ = false;
  loop_.RunFor(options_.t_revoke - absl::Seconds(1));
  EXPECT_EQ(proof.state(), State::kProven) << "an error is not a refusal";
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(proof.state(), State::kExpired);
  EXPECT_EQ(proof.reason().code(), absl::StatusCode::kUnavailable);
  up_ = true;
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(proof.state(), State::kProven);
}

TEST_F(AccessProofTest, OnlyAReviewRefuses) {
  AccessProof& proof = Make();
  for (const int code : {401, 403, 404, 500}) {
    code_ = code;
    proof.Check();
    loop_.RunFor(absl::Seconds(2));
    EXPECT_EQ(proof.state(), State::kUnknown) << code;
    EXPECT_NE(proof.reason().message().find("could not be proven"), std::string::npos);
  }
}

TEST_F(AccessProofTest, ErrorsBackOff) {
  up_ = false;
  AccessProof& proof = Make();
  proof.Check();
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(proof.state(), State::kUnknown);
  EXPECT_LT(reviews(), 80u);
  EXPECT_GT(reviews(), 20u);
}

TEST_F(AccessProofTest, RefusalsAreAskedAgainSlowly) {
  Allow(false, false);
  AccessProof& proof = Make();
  proof.Check();
  loop_.RunReady();
  const double base[] = {30, 60, 120, 240, 300, 300};
  for (const double seconds : base) {
    const size_t before = reviews();
    const absl::Time start = loop_.clock().TimeNow();
    ASSERT_TRUE(loop_.RunUntil([&] { return reviews() > before; }));
    EXPECT_GE(loop_.clock().TimeNow() - start, absl::Seconds(seconds));
    EXPECT_LE(loop_.clock().TimeNow() - start, absl::Seconds(1.2 * seconds));
    loop_.RunReady();
  }
  Allow(true, true);
  proof.Check();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(proof.state(), State::kProven) << "a hint asks at once";
}

TEST_F(AccessProofTest, AnAcceptedWatchIsAProof) {
  Allow(false, false);
  AccessProof& proof = Make();
  proof.NoteProven();
  EXPECT_EQ(proof.state(), State::kProven);
  EXPECT_EQ(reviews(), 0u);
  // An answer that was asked for before it does not undo it; it is asked anew.
  proof.Check();
  proof.NoteProven();
  loop_.RunReady();
  EXPECT_EQ(proof.state(), State::kProven);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(proof.state(), State::kRefused);
}

TEST_F(AccessProofTest, ARefusedWatchIsARefusal) {
  Allow(true, true);
  AccessProof& proof = Make();
  proof.NoteProven();
  proof.NoteRefused(absl::PermissionDeniedError("403"));
  EXPECT_EQ(proof.state(), State::kRefused);
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(reviews(), 0u) << "whoever watches asks";
  EXPECT_EQ(proof.state(), State::kRefused) << "its end does not come twice";
  proof.RetryLater();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(proof.state(), State::kProven);
}

TEST_F(AccessProofTest, NothingHappensAfterItsEnd) {
  Allow(true, true);
  Make().Check();
  proof_.reset();
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(changes_, 0);
  EXPECT_EQ(reviews(), 2u);
}

// Whichever of the two comes first.
TEST_F(AccessProofTest, OneNoOutweighsAnError) {
  for (const char* unanswered : {"list", "watch"}) {
    SCOPED_TRACE(unanswered);
    unanswered_ = "";
    Allow(true, true);
    AccessProof& proof = Make();
    proof.Check();
    loop_.RunFor(absl::Seconds(2));
    ASSERT_EQ(proof.state(), State::kProven);
    unanswered_ = unanswered;
    Allow(false, false);
    proof.Check();
    loop_.RunReady();
    EXPECT_EQ(proof.state(), State::kRefused);
  }
}

TEST_F(AccessProofTest, ALostProofIsAskedForAgainSoon) {
  Allow(true, true);
  AccessProof& proof = Make();
  proof.Check();
  loop_.RunFor(absl::Seconds(2));
  Allow(false, false);
  proof.Check();
  loop_.RunReady();
  ASSERT_EQ(proof.state(), State::kRefused);
  loop_.RunFor(absl::Seconds(3));
  Allow(true, true);
  loop_.RunFor(absl::Seconds(6));
  EXPECT_EQ(proof.state(), State::kProven) << "not after 30 s";
}

}  // namespace
}  // namespace mandate
