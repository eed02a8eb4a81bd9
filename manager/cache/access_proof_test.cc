#include "manager/cache/access_proof.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/kinds/authorization_v1.h"
#include "manager/object/object_codec.h"

namespace mandate {
namespace {

constexpr KindInfo kPod = {.group = "", .version = "v1", .kind = "Pod", .plural = "pods"};

class AccessProofTest : public ::testing::Test {
 protected:
  using Review = authorizationv1::SelfSubjectAccessReview;
  using State = AccessProof::State;

  AccessProofTest() {
    client_.Handle([this](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
      auto review = DecodeObject<Review>(request.body, Encoding::kJson);
      EXPECT_TRUE(review.ok()) << review.status();
      last_ = *review;
      if (!up_ || review->spec().resourceattributes().verb() == unanswered_) {
        return absl::UnavailableError("no server");
      }
      if (code_ != 201) return FakeRestClient::Json(code_, "{}");
      review->mutable_status()->set_allowed(allowed_[review->spec().resourceattributes().verb()]);
      review->mutable_status()->set_reason("because");
      return FakeRestClient::Json(201, *EncodeObject(*review, Encoding::kJson));
    });
  }

  AccessProof& Make() {
    proof_ =
        std::make_unique<AccessProof>(AccessProof::Config{.spec = {kPod, "foo", "bar"},
                                                          .version = [this] { return version_; },
                                                          .options = options_,
                                                          .random = random_,
                                                          .counts = counts_,
                                                          .probes = probes_,
                                                          .on_change = [this] { ++changes_; }},
                                      client_);
    return *proof_;
  }
  void CheckAndRun() {
    proof_->Check();
    loop_.RunReady();
  }
  AccessProof& MakeChecked(bool list, bool watch) {
    Allow(list, watch);
    Make();
    CheckAndRun();
    return *proof_;
  }
  AccessProof& MakeProven() {
    AccessProof& proof = MakeChecked(true, true);
    EXPECT_EQ(proof.state(), State::kProven);
    return proof;
  }
  // The watch that renews a proof. No server answers it.
  std::shared_ptr<FakeWatch> NextRenewal() {
    EXPECT_TRUE(loop_.RunUntil([&] { return renewals() > 0; }));
    return client_.watches().back();
  }
  void Allow(bool list, bool watch) { allowed_ = {{"list", list}, {"watch", watch}}; }
  size_t reviews() const { return client_.Count("POST "); }
  size_t renewals() const { return client_.watches().size(); }

  SimulatedLoop loop_;
  FakeRestClient client_{loop_, "reader"};
  Metrics metrics_;
  AccessMetrics counts_{metrics_, "reader"};
  ProbeBudget probes_{
      {.per_second = 5, .burst = 20, .hints = {.per_second = 5, .burst = 20}}, loop_, metrics_};
  std::mt19937_64 random_{1};
  AccessProof::Options options_;
  std::map<std::string, bool> allowed_ = {{"list", true}, {"watch", true}};
  std::string version_ = "42";
  bool up_ = true;
  std::string unanswered_;  // the verb of reviews without an answer
  int code_ = 201;
  int changes_ = 0;
  Review last_;
  std::unique_ptr<AccessProof> proof_;
};

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
  EXPECT_LT(reviews(), 60u);
  up_ = true;
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(proof.state(), State::kProven);
  Allow(false, true);
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

TEST_F(AccessProofTest, AsksForListAndWatchOfExactlyTheScope) {
  AccessProof& proof = Make();
  EXPECT_EQ(proof.state(), State::kUnknown);
  EXPECT_EQ(reviews(), 0u);
  CheckAndRun();
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

TEST_F(AccessProofTest, NeedsListAndWatch) {
  const std::pair<bool, bool> answers[] = {{false, true}, {true, false}, {false, false}};
  for (const auto& [list, watch] : answers) {
    AccessProof& proof = MakeChecked(list, watch);
    EXPECT_EQ(proof.state(), State::kDenied);
    EXPECT_EQ(proof.reason().code(), absl::StatusCode::kPermissionDenied);
    EXPECT_EQ(AsStd(proof.reason().message())
                  .find(StrCat("reader may not ", list ? "watch" : "list",
                               " pods \"bar\" in namespace foo (because)")),
              0u)
        << proof.reason();
  }
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
  EXPECT_EQ(reviews(), 2u) << "those of the beginning";
  EXPECT_EQ(client_.live_watches(), 0u);
  EXPECT_EQ(changes_, 1);
  EXPECT_EQ(counts_.renewals.Value(), 20);
}

TEST_F(AccessProofTest, IsRenewedByReviewsWithoutAVersion) {
  version_ = "";
  MakeProven();
  loop_.RunFor(options_.proof_lifetime);
  EXPECT_EQ(renewals(), 0u);
  EXPECT_EQ(reviews(), 4u);
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
      ASSERT_TRUE(loop_.RunUntil([&] { return reviews() == 2; }, options_.proof_lifetime)) << name;
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
  EXPECT_LT(reviews(), 80u);
  EXPECT_GT(reviews(), 20u);
}

TEST_F(AccessProofTest, RetriesARefusedProofSlowly) {
  AccessProof& proof = MakeChecked(false, false);
  for (const double seconds : {1, 2, 4, 8, 16, 32, 60, 60}) {
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

TEST_F(AccessProofTest, AHintWaitsForTheBudget) {
  std::vector<std::unique_ptr<ProbeBudget::Ticket>> others;
  for (int i = 0; i < 20 + 5; ++i) {
    others.push_back(probes_.Ask(client_.component(), ProbeBudget::Urgency::kHint, [] {}));
  }
  Allow(true, true);
  Make().CheckSoon();
  loop_.RunFor(absl::Seconds(0.9));
  EXPECT_EQ(reviews(), 0u);
  loop_.RunFor(absl::Seconds(0.5));
  EXPECT_EQ(reviews(), 2u);
  EXPECT_EQ(proof_->state(), State::kProven);
}

TEST_F(AccessProofTest, AnAcceptedWatchIsAProof) {
  Allow(false, false);
  AccessProof& proof = Make();
  proof.NoteProven();
  EXPECT_EQ(proof.state(), State::kProven);
  EXPECT_EQ(reviews(), 0u);
  // The answer to an earlier question does not undo the proof; the question is asked again.
  proof.Check();
  proof.NoteProven();
  loop_.RunReady();
  EXPECT_EQ(proof.state(), State::kProven);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(proof.state(), State::kDenied);
}

TEST_F(AccessProofTest, ARefusedWatchIsARefusal) {
  AccessProof& proof = Make();
  proof.NoteProven();
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
  EXPECT_EQ(reviews(), 2u);
}

// The reviews may come in either order.
TEST_F(AccessProofTest, ADenialOutweighsAnError) {
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

TEST_F(AccessProofTest, AHintOvertakesARenewal) {
  AccessProof& proof = MakeProven();
  const std::shared_ptr<FakeWatch> renewal = NextRenewal();
  Allow(true, false);
  CheckAndRun();
  EXPECT_EQ(proof.state(), State::kDenied);
  EXPECT_TRUE(renewal->cancelled());
}

TEST_F(AccessProofTest, HintsAreBoundedAndNotLost) {
  AccessProof& proof = Make();
  for (int i = 0; i < 100; ++i) {
    proof.Check();
    loop_.RunFor(absl::Milliseconds(100));
  }
  EXPECT_LE(reviews(), 24u) << "two a second";
  // The right is revoked just after the last answer, and a hint comes right then.
  loop_.RunFor(absl::Seconds(5));
  proof.Check();
  CheckAndRun();
  Allow(false, true);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(proof.state(), State::kDenied);
}

TEST_F(AccessProofTest, AnAcceptedWatchKeepsAWaitingHint) {
  AccessProof& proof = MakeProven();
  Allow(false, true);
  proof.Check();
  proof.NoteProven();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(proof.state(), State::kDenied);
}

// The same for a hint that waits for the budget, as each hint does (SharedWatch::RecheckAccess).
TEST_F(AccessProofTest, AnAcceptedWatchKeepsAHintThatWaitsForTheBudget) {
  AccessProof& proof = MakeProven();
  loop_.RunFor(absl::Seconds(2));
  Allow(false, true);
  proof.CheckSoon();
  proof.NoteProven();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(proof.state(), State::kDenied);
}

TEST_F(AccessProofTest, ARenewalKeepsAWaitingHint) {
  options_.min_interval = absl::Minutes(5);
  AccessProof& proof = MakeProven();
  const std::shared_ptr<FakeWatch> renewal = NextRenewal();
  Allow(false, true);
  proof.Check();
  renewal->Open();
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(proof.state(), State::kDenied);
}

TEST_F(AccessProofTest, ARefusalDropsTheNextCheck) {
  AccessProof& proof = Make();
  proof.Check();
  proof.Check();
  proof.NoteDenied(absl::PermissionDeniedError("403"));
  proof.NoteProven();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(reviews(), 2u) << "those that were under way";
}

}  // namespace
}  // namespace mandate
