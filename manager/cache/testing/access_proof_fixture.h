// An AccessProof whose reviews are answered as a test says.
#ifndef MANAGER_CACHE_TESTING_ACCESS_PROOF_FIXTURE_H_
#define MANAGER_CACHE_TESTING_ACCESS_PROOF_FIXTURE_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>

#include "manager/cache/access_proof.h"
#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/kinds/authorization_v1.h"
#include "manager/object/object_codec.h"

namespace mandate {

inline constexpr KindInfo kPod = {.group = "", .version = "v1", .kind = "Pod", .plural = "pods"};

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

  AccessProof& Make(DemandSpec spec = {kPod, "foo", "bar"}) {
    proof_ =
        std::make_unique<AccessProof>(AccessProof::Config{.spec = std::move(spec),
                                                          .version = [this] { return version_; },
                                                          .options = options_,
                                                          .random = random_,
                                                          .counts = counts_,
                                                          .on_change = [this] { ++changes_; }},
                                      client_);
    return *proof_;
  }
  AccessProof& MakeProven() {
    Allow(true, true);
    AccessProof& proof = Make();
    proof.Check();
    loop_.RunReady();
    EXPECT_EQ(proof.state(), State::kProven);
    return proof;
  }
  // Of a proof that was made; it is not answered.
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
  std::mt19937_64 random_{1};
  AccessProof::Options options_;
  std::map<std::string, bool> allowed_;
  std::string version_ = "42";
  bool up_ = true;
  std::string unanswered_;  // the verb of reviews without an answer
  int code_ = 201;
  int changes_ = 0;
  Review last_;
  std::unique_ptr<AccessProof> proof_;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_TESTING_ACCESS_PROOF_FIXTURE_H_
