#include "manager/client/self_review.h"

#include <gtest/gtest.h>

#include <string>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

class SelfReviewTest : public testing::Test {
 protected:
  // The server's answer to the next reviews; they are kept in `asked_`.
  void Answer(absl::StatusOr<HttpResponse> answer) {
    client_.Handle([this, answer](const RestRequest& request) {
      EXPECT_EQ(request.method, "POST");
      EXPECT_TRUE(request.idempotent) << "it changes nothing";
      target_ = request.target;
      asked_ = ParseJson(request.body).value();
      return answer;
    });
  }
  CallContext Soon() { return {loop_.clock().TimeNow() + absl::Seconds(15), {}}; }
  // The spec of the review that is sent for the rule, as JSON.
  std::string Asked(std::string_view ns, const rbac::Rule& rule) {
    Answer(FakeRestClient::Json(201, R"({"status":{"allowed":true,"reason":"why"}})"));
    const auto review = MayI(Soon(), client_, ns, rule);
    EXPECT_TRUE(review.ok()) << review.status();
    EXPECT_TRUE(review->status().allowed());
    EXPECT_EQ(review->status().reason(), "why");
    EXPECT_EQ(target_, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews");
    return WriteJson(asked_["spec"]);
  }

  SimulatedLoop loop_;
  FakeRestClient client_{loop_, "scope"};
  std::string target_;
  Json::Value asked_;
};

TEST_F(SelfReviewTest, WhoAmI) {
  Answer(FakeRestClient::Json(201, R"({"status":{"userInfo":{"username":"ann"}}})"));
  EXPECT_EQ(WhoAmI(Soon(), client_).value(), "ann");
  EXPECT_EQ(target_, "/apis/authentication.k8s.io/v1/selfsubjectreviews");
  EXPECT_EQ(asked_["kind"], "SelfSubjectReview");
}

TEST_F(SelfReviewTest, WhatMayI) {
  EXPECT_EQ(Asked("", {.verbs = {"get"},
                       .api_groups = {"apps"},
                       .resources = {"deployments/scale"},
                       .resource_names = {},
                       .non_resource_urls = {}}),
            R"({"resourceAttributes":{"group":"apps","resource":"deployments",)"
            R"("subresource":"scale","verb":"get"}})");
  EXPECT_EQ(Asked("shop", {.verbs = {"list"},
                           .api_groups = {""},
                           .resources = {"pods"},
                           .resource_names = {"web"},
                           .non_resource_urls = {}}),
            R"({"resourceAttributes":{"group":"","name":"web","namespace":"shop",)"
            R"("resource":"pods","verb":"list"}})");
  EXPECT_EQ(Asked("", {.verbs = {"get"},
                       .api_groups = {},
                       .resources = {},
                       .resource_names = {},
                       .non_resource_urls = {"/metrics"}}),
            R"({"nonResourceAttributes":{"path":"/metrics","verb":"get"}})");
}

TEST_F(SelfReviewTest, AnAnswerThatSaysNothingIsAnError) {
  Answer(absl::UnavailableError("gone"));
  EXPECT_TRUE(absl::IsUnavailable(WhoAmI(Soon(), client_).status()));
  Answer(FakeRestClient::Json(403, ""));
  EXPECT_TRUE(absl::IsPermissionDenied(MayI(Soon(), client_, "",
                                            {.verbs = {"get"},
                                             .api_groups = {""},
                                             .resources = {"pods"},
                                             .resource_names = {},
                                             .non_resource_urls = {}})
                                           .status()));
  Answer(FakeRestClient::Json(201, "no JSON"));
  EXPECT_FALSE(WhoAmI(Soon(), client_).ok());
}

}  // namespace
}  // namespace mandate
