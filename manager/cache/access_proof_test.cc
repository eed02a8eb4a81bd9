#include "manager/cache/access_proof.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <utility>

#include "manager/cache/testing/access_proof_fixture.h"
#include "manager/client/too_large.h"

namespace mandate {
namespace {

class AccessProofTest : public AccessProofFixture {};

TEST_F(AccessProofTest, WithoutACredentialNothingIsProven) {
  const absl::Status why = absl::UnauthenticatedError("401");
  AccessProof& proof = Make();
  proof.NoteLost(why);
  EXPECT_EQ(proof.state(), State::kUnknown) << "nothing was";
  CheckAndRun();
  ASSERT_EQ(proof.state(), State::kProven);
  up_ = false;
  proof.NoteLost(why);
  EXPECT_EQ(proof.state(), State::kExpired);
  EXPECT_NE(proof.reason().message().find("401"), std::string::npos);
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(proof.state(), State::kExpired);
  EXPECT_LT(reviews(), 30u);
  up_ = true;
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(proof.state(), State::kProven);
  Deny();
  proof.Check();
  loop_.RunFor(absl::Seconds(5));
  ASSERT_EQ(proof.state(), State::kDenied);
  proof.NoteLost(why);
  EXPECT_EQ(proof.state(), State::kDenied);
}

TEST_F(AccessProofTest, IgnoresReviewsOfALostCredential) {
  AccessProof& proof = Make();
  proof.Check();
  proof.NoteLost(absl::UnauthenticatedError("401"));
  loop_.RunReady();
  EXPECT_EQ(proof.state(), State::kUnknown);
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(proof.state(), State::kProven) << "it asks again by itself";
}

TEST_F(AccessProofTest, IgnoresARenewalOfALostCredential) {
  AccessProof& proof = MakeProven();
  const std::shared_ptr<FakeWatch> renewal = NextRenewal();
  proof.NoteLost(absl::UnauthenticatedError("401"));
  EXPECT_TRUE(renewal->cancelled());
  EXPECT_EQ(proof.state(), State::kExpired);
}

TEST_F(AccessProofTest, AsksForWatchOfExactlyTheScope) {
  AccessProof& proof = Make();
  EXPECT_EQ(proof.state(), State::kUnknown);
  EXPECT_EQ(reviews(), 0u);
  CheckAndRun();
  EXPECT_EQ(proof.state(), State::kProven);
  EXPECT_TRUE(proof.reason().ok());
  EXPECT_EQ(changes_, 1);
  ASSERT_EQ(reviews(), 1u);
  EXPECT_EQ(client_.requests()[0], "POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
  const auto& asked = last_.spec().resourceattributes();
  EXPECT_EQ(asked.verb(), "watch");
  EXPECT_EQ(asked.resource(), "pods");
  EXPECT_EQ(asked.group(), "");
  EXPECT_EQ(asked.version(), "v1");
  EXPECT_EQ(asked.namespace_(), "foo");
  EXPECT_EQ(asked.name(), "bar");
}

// A watch begins with every object: who may watch may see all that a list shows.
TEST_F(AccessProofTest, NeedsWatch) {
  EXPECT_EQ(MakeChecked(false, true).state(), State::kProven);
  AccessProof& proof = MakeChecked(true, false);
  EXPECT_EQ(proof.state(), State::kDenied);
  EXPECT_EQ(proof.reason().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(AsStd(proof.reason().message())
                .find("reader may not watch pods \"bar\" in namespace foo (because)"),
            0u)
      << proof.reason();
}

// A denial names each Role that a binding refers to in vain; tenants choose the names.
TEST_F(AccessProofTest, KeepsTheBeginningOfALongReason) {
  why_ = std::string(300'000, 'w');
  AccessProof& proof = MakeChecked(false, false);
  EXPECT_EQ(proof.state(), State::kDenied);
  EXPECT_LT(proof.reason().message().size(), 4096u);
  EXPECT_NE(proof.reason().message().find("www… (300000 bytes)"), absl::string_view::npos);
}

// Otherwise who may write RoleBindings could keep what was revoked until the proof expires.
TEST_F(AccessProofTest, AReasonThatIsTooLongToReadIsADenial) {
  AccessProof& proof = MakeChecked(true, true);
  ASSERT_EQ(proof.state(), State::kProven);
  absl::Status answer = absl::ResourceExhaustedError("64 requests wait for a connection");
  client_.Handle([&](const RestRequest&) -> absl::StatusOr<HttpResponse> { return answer; });
  proof.Check();
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(proof.state(), State::kProven) << "another limit is no answer";
  answer = MarkTooLarge(absl::ResourceExhaustedError("the response is larger than 8388608 bytes"));
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(proof.state(), State::kDenied);
  EXPECT_EQ(AsStd(proof.reason().message())
                .find("reader may not watch pods \"bar\" in namespace foo, or the API server"),
            0u)
      << proof.reason();
}

TEST_F(AccessProofTest, NeedsListWhereTheStateIsListed) {
  options_.needs_list = true;
  EXPECT_EQ(MakeChecked(true, true).state(), State::kProven);
  EXPECT_EQ(reviews(), 2u);
  EXPECT_EQ(MakeChecked(true, false).state(), State::kDenied);
  AccessProof& proof = MakeChecked(false, true);
  EXPECT_EQ(proof.state(), State::kDenied);
  EXPECT_EQ(AsStd(proof.reason().message()).find("reader may not list pods"), 0u) << proof.reason();
}

TEST_F(AccessProofTest, IsRenewedByAShortWatchBeforeItEnds) {
  client_.OnWatch([](const auto& watch) { watch->Open(); });
  AccessProof& proof = MakeProven();
  for (int round = 1; round <= 20; ++round) {
    loop_.RunReady();
    ASSERT_EQ(proof.state(), State::kProven);
    const absl::Time start = loop_.clock().TimeNow();
    ASSERT_TRUE(loop_.RunUntil([&] { return renewals() == static_cast<size_t>(round); }));
    const absl::Duration after = loop_.clock().TimeNow() - start;
    EXPECT_GE(after, 0.7 * options_.proof_lifetime);
    EXPECT_LE(after, 0.85 * options_.proof_lifetime);
    const auto& watch = client_.watches().back();
    EXPECT_EQ(watch->Query("resourceVersion"), "42");
    EXPECT_EQ(watch->Query("timeoutSeconds"), "1");
    EXPECT_EQ(watch->Query("fieldSelector"), "metadata.name=bar");
    EXPECT_EQ(watch->request().target.find("/api/v1/namespaces/foo/pods?"), 0u);
  }
  loop_.RunReady();
  EXPECT_EQ(reviews(), 1u) << "that of the beginning";
  EXPECT_EQ(client_.live_watches(), 0u);
  EXPECT_EQ(changes_, 1);
  EXPECT_EQ(counts_.renewals.Value(), 20);
}

TEST_F(AccessProofTest, IsRenewedByReviewsWithoutAVersion) {
  version_ = "";
  MakeProven();
  loop_.RunFor(options_.proof_lifetime);
  EXPECT_EQ(renewals(), 0u);
  EXPECT_EQ(reviews(), 2u);
  EXPECT_EQ(proof_->state(), State::kProven);
}

TEST_F(AccessProofTest, ReviewsDecideAfterAFailedRenewal) {
  const std::pair<const char*, std::function<void(FakeWatch&)>> ends[] = {
      {"403", [](FakeWatch& watch) { watch.Refuse(403, "{}"); }},
      {"500", [](FakeWatch& watch) { watch.Refuse(500, "{}"); }},
      {"closed", [](FakeWatch& watch) { watch.Close(); }},
      {"cut", [](FakeWatch& watch) { watch.Close(absl::UnavailableError("reset")); }},
      {"silence", [](FakeWatch&) {}},
  };
  for (const auto& [name, end] : ends) {
    for (const bool still_allowed : {true, false}) {
      client_.OnWatch([&end = end](const auto& watch) { end(*watch); });
      AccessProof& proof = MakeProven();
      Allow(true, still_allowed);
      client_.ForgetRequests();
      ASSERT_TRUE(loop_.RunUntil([&] { return reviews() == 1; }, options_.proof_lifetime)) << name;
      loop_.RunReady();
      EXPECT_EQ(proof.state(), still_allowed ? State::kProven : State::kDenied) << name;
      EXPECT_EQ(client_.live_watches(), 0u) << name;
    }
  }
}

TEST_F(AccessProofTest, ExpiresWithoutAResponse) {
  AccessProof& proof = MakeProven();
  up_ = false;
  loop_.RunFor(options_.proof_lifetime - absl::Seconds(1));
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
  EXPECT_LT(reviews(), 40u);
  EXPECT_GT(reviews(), 10u);
}

TEST_F(AccessProofTest, RetriesARefusedProofSlowly) {
  AccessProof& proof = MakeChecked(false, false);
  for (const double seconds : {1, 2, 4, 8, 16, 32, 48, 48}) {
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
  proof.NoteProven(loop_.clock().TimeNow());
  EXPECT_EQ(proof.state(), State::kProven);
  EXPECT_EQ(reviews(), 0u);
  // The answer to an earlier question does not undo the proof; the question is asked again.
  proof.Check();
  proof.NoteProven(loop_.clock().TimeNow());
  loop_.RunReady();
  EXPECT_EQ(proof.state(), State::kProven);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(proof.state(), State::kDenied);
}

TEST_F(AccessProofTest, ARefusedWatchIsARefusal) {
  AccessProof& proof = Make();
  proof.NoteProven(loop_.clock().TimeNow());
  proof.NoteDenied(absl::PermissionDeniedError("403"));
  EXPECT_EQ(proof.state(), State::kDenied);
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(reviews(), 0u) << "the watch itself tries again";
  EXPECT_EQ(proof.state(), State::kDenied) << "it does not expire";
  proof.RetryLater();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(proof.state(), State::kProven);
}

TEST_F(AccessProofTest, NothingHappensAfterItsEnd) {
  Make().Check();
  proof_.reset();
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(changes_, 0);
  EXPECT_EQ(reviews(), 1u);
}

// The reviews may come in either order.
TEST_F(AccessProofTest, ADenialOutweighsAnError) {
  options_.needs_list = true;
  for (const char* unanswered : {"list", "watch"}) {
    SCOPED_TRACE(unanswered);
    unanswered_ = "";
    AccessProof& proof = MakeProven();
    loop_.RunFor(absl::Seconds(2));
    unanswered_ = unanswered;
    Allow(false, false);
    CheckAndRun();
    EXPECT_EQ(proof.state(), State::kDenied);
  }
}

// What it was before does not matter: a proof that has ended by a denial does not end again.
TEST_F(AccessProofTest, ADenialDoesNotExpire) {
  AccessProof& proof = MakeProven();
  loop_.RunFor(absl::Seconds(2));
  Allow(false, false);
  CheckAndRun();
  ASSERT_EQ(proof.state(), State::kDenied);
  EXPECT_FALSE(
      loop_.RunUntil([&] { return proof.state() != State::kDenied; }, 2 * options_.proof_lifetime));
}

TEST_F(AccessProofTest, RetriesALostProofSoon) {
  AccessProof& proof = MakeProven();
  loop_.RunFor(absl::Seconds(2));
  Allow(false, false);
  CheckAndRun();
  ASSERT_EQ(proof.state(), State::kDenied);
  loop_.RunFor(absl::Seconds(3));
  Allow(true, true);
  loop_.RunFor(absl::Seconds(6));
  EXPECT_EQ(proof.state(), State::kProven) << "not after 30 s";
}

// A change between the question and its answer may be newer than the answer.
TEST_F(AccessProofTest, ARenewalIsAsOldAsItsQuestion) {
  AccessProof& proof = MakeProven();
  const std::shared_ptr<FakeWatch> renewal = NextRenewal();
  const absl::Time asked = loop_.clock().TimeNow();
  loop_.RunFor(absl::Seconds(3));
  renewal->Open();
  loop_.RunReady();
  ASSERT_EQ(counts_.renewals.Value(), 1);
  EXPECT_EQ(proof.proven_at(), asked);
}

TEST_F(AccessProofTest, AfterAResetNothingEndsOrIsAsked) {
  AccessProof& proof = MakeProven();
  proof.Reset();
  loop_.RunFor(2 * options_.proof_lifetime);
  EXPECT_EQ(proof.state(), State::kUnknown);
  EXPECT_EQ(changes_, 1) << "that of the proof";
  EXPECT_EQ(reviews(), 1u);
  EXPECT_EQ(renewals(), 0u);
}

// The proof does not fail any more, and its next error is retried soon.
TEST_F(AccessProofTest, AnyAnswerEndsAFailure) {
  for (const bool allowed : {false, true}) {
    up_ = false;
    AccessProof& proof = MakeChecked(allowed, allowed);
    ASSERT_TRUE(proof.failing());
    up_ = true;
    loop_.RunFor(absl::Minutes(1));
    EXPECT_EQ(proof.state(), allowed ? State::kProven : State::kDenied);
    EXPECT_FALSE(proof.failing());
  }
}

TEST_F(AccessProofTest, AResetEndsAFailure) {
  up_ = false;
  AccessProof& proof = MakeChecked(true, true);
  ASSERT_TRUE(proof.failing());
  proof.Reset();
  EXPECT_FALSE(proof.failing());
}

}  // namespace
}  // namespace mandate
