// An AccessProof, and a server that answers its reviews.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "manager/cache/access_proof.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/kinds/authorization_v1.h"
#include "manager/object/object_codec.h"

namespace mandate {

// A component asks whether it may read a Pod.
class AccessProofFixture : public ::testing::Test {
 protected:
  using Review = authorizationv1::SelfSubjectAccessReview;
  using State = AccessProof::State;

  static constexpr KindInfo kPod = {.group = "", .version = "v1", .kind = "Pod", .plural = "pods"};

  AccessProofFixture() {
    client_.Handle([this](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
      auto review = DecodeObject<Review>(request.body, Encoding::kJson);
      EXPECT_TRUE(review.ok()) << review.status();
      last_ = *review;
      if (!up_ || review->spec().resourceattributes().verb() == unanswered_) {
        return absl::UnavailableError("no server");
      }
      if (code_ != 201) return FakeRestClient::Json(code_, "{}");
      review->mutable_status()->set_allowed(allowed_[review->spec().resourceattributes().verb()]);
      review->mutable_status()->set_reason(why_);
      return FakeRestClient::Json(201, *EncodeObject(*review, Encoding::kJson));
    });
  }

  AccessProof& Make() {
    proof_ = std::make_unique<AccessProof>(
        AccessProof::Config{.spec = {kPod, "foo", "bar"},
                            .version = [this] { return version_; },
                            .options = options_,
                            .random = random_,
                            .counts = counts_,
                            .probes = probes_,
                            .flows = [] { return ProbeBudget::Flows(); },
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
  void Deny() { Allow(false, false); }
  void Allow(bool list, bool watch) { allowed_ = {{"list", list}, {"watch", watch}}; }
  size_t reviews() const { return client_.Count("POST "); }
  size_t renewals() const { return client_.watches().size(); }

  SimulatedLoop loop_;
  FakeRestClient client_{loop_, "reader"};
  Metrics metrics_;
  AccessMetrics counts_{metrics_, "reader"};
  ProbeBudget probes_{
      {.per_second = 5, .burst = 20, .hints = {.per_second = 5, .burst = 20}, .min_under_way = 32},
      loop_,
      metrics_};
  std::mt19937_64 random_{1};
  AccessProof::Options options_;
  std::map<std::string, bool> allowed_ = {{"list", true}, {"watch", true}};
  std::string why_ = "because";
  std::string version_ = "42";
  bool up_ = true;
  std::string unanswered_;  // the verb of reviews without an answer
  int code_ = 201;
  int changes_ = 0;
  Review last_;
  std::unique_ptr<AccessProof> proof_;
};

}  // namespace mandate
