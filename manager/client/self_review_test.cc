#include "manager/client/self_review.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"
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
  static rbac::Rule ToGet(const std::string& resource) {
    return {.verbs = {"get"}, .api_groups = {""}, .resources = {resource}};
  }
  CallContext Soon() { return {loop_.clock().TimeNow() + absl::Seconds(15), {}}; }
  // The spec of the review that is sent for the rule, as JSON.
  std::string Asked(std::string_view ns, const rbac::Rule& rule) {
    Answer(FakeRestClient::Json(201, R"({"status":{"allowed":true,"reason":"why"}})"));
    const auto review = CanI(Soon(), client_, ns, rule);
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
  EXPECT_EQ(
      Asked("", {.verbs = {"get"}, .api_groups = {"apps"}, .resources = {"deployments/scale"}}),
      R"({"resourceAttributes":{"group":"apps","resource":"deployments",)"
      R"("subresource":"scale","verb":"get"}})");
  EXPECT_EQ(Asked("shop", {.verbs = {"list"},
                           .api_groups = {""},
                           .resources = {"pods"},
                           .resource_names = {"web"}}),
            R"({"resourceAttributes":{"group":"","name":"web","namespace":"shop",)"
            R"("resource":"pods","verb":"list"}})");
  EXPECT_EQ(Asked("", {.verbs = {"get"}, .non_resource_urls = {"/metrics"}}),
            R"({"nonResourceAttributes":{"path":"/metrics","verb":"get"}})");
}

TEST_F(SelfReviewTest, KeepsTheBeginningOfALongReason) {
  const std::string text(300'000, 'r');
  Answer(FakeRestClient::Json(
      201, StrCat(R"({"status":{"reason":")", text, R"(","evaluationError":")", text, R"("}})")));
  const auto answers = ReviewOwnAccess(Soon(), client_, {{"shop", ToGet("pods")}}, 1);
  ASSERT_TRUE(answers.ok()) << answers.status();
  const std::string kept = std::string(kMaxErrorMessage, 'r') + "… (300000 bytes)";
  EXPECT_EQ((*answers)[0].reason(), kept);
  EXPECT_EQ((*answers)[0].evaluationerror(), kept);
}

TEST_F(SelfReviewTest, ManyQuestionsAreUnderWayAtOnce) {
  std::vector<AccessQuestion> questions;
  for (int i = 0; i < 10; ++i) questions.push_back({StrCat(i), ToGet("pods")});
  std::vector<std::pair<std::string, FakeRestClient::Reply>> asked;
  size_t most = 0, answers = 0;
  client_.HandleLate([&](const RestRequest& request, const FakeRestClient::Reply& reply) {
    const Json::Value spec = ParseJson(request.body).value()["spec"];
    asked.emplace_back(spec["resourceAttributes"]["namespace"].asString(), reply);
    most = std::max(most, asked.size());
    // The last one is answered first.
    if (asked.size() < 4 && answers + asked.size() < 10) return;
    while (!asked.empty()) {
      const auto [ns, answer] = asked.back();
      asked.pop_back();
      ++answers;
      answer(FakeRestClient::Json(201, StrCat(R"({"status":{"reason":")", ns, R"("}})")));
    }
  });
  const auto reviews = ReviewOwnAccess(Soon(), client_, questions, 4);
  ASSERT_TRUE(reviews.ok()) << reviews.status();
  EXPECT_EQ(most, 4u);
  ASSERT_EQ(reviews->size(), 10u);
  for (size_t i = 0; i < 10; ++i) EXPECT_EQ((*reviews)[i].reason(), StrCat(i));
  EXPECT_EQ(ReviewOwnAccess(Soon(), client_, {}, 4)->size(), 0u);
}

TEST_F(SelfReviewTest, AsksAboutAnotherUser) {
  Answer(FakeRestClient::Json(201, R"({"status":{"allowed":true,"reason":"why"}})"));
  authenticationv1::UserInfo user;
  user.set_username("ann");
  user.set_uid("7");
  user.add_groups("dev");
  (*user.mutable_extra())["scopes"].add_items("a");
  const auto answers = ReviewUserAccess(Soon(), client_, user, {{"shop", ToGet("pods")}}, 4);
  ASSERT_TRUE(answers.ok()) << answers.status();
  ASSERT_EQ(answers->size(), 1u);
  EXPECT_TRUE((*answers)[0].allowed());
  EXPECT_EQ(target_, "/apis/authorization.k8s.io/v1/subjectaccessreviews");
  EXPECT_EQ(WriteJson(asked_["spec"]),
            R"({"extra":{"scopes":["a"]},"groups":["dev"],"resourceAttributes":)"
            R"({"group":"","namespace":"shop","resource":"pods","verb":"get"},)"
            R"("uid":"7","user":"ann"})");
}

// The part of the user is encoded once for all.
TEST_F(SelfReviewTest, EachQuestionAboutAUserHasItsOwnAttributes) {
  std::vector<std::string> specs;
  client_.Handle([&](const RestRequest& request) {
    const Json::Value review = ParseJson(request.body).value();
    EXPECT_EQ(review["kind"], "SubjectAccessReview");
    EXPECT_EQ(review["apiVersion"], "authorization.k8s.io/v1");
    specs.push_back(WriteJson(review["spec"]));
    return FakeRestClient::Json(201, R"({"status":{"allowed":true}})");
  });
  authenticationv1::UserInfo user;
  const std::vector<AccessQuestion> questions = {
      {"", ToGet("pods")}, {"", {.verbs = {"get"}, .non_resource_urls = {"/metrics"}}}};
  EXPECT_TRUE(ReviewUserAccess(Soon(), client_, user, questions, 1).ok());
  user.set_username("a\"}}");
  EXPECT_TRUE(ReviewUserAccess(Soon(), client_, user, questions, 1).ok());
  EXPECT_EQ(
      specs,
      (std::vector<std::string>{
          R"({"resourceAttributes":{"group":"","resource":"pods","verb":"get"},"uid":"","user":""})",
          R"({"nonResourceAttributes":{"path":"/metrics","verb":"get"},"uid":"","user":""})",
          R"({"resourceAttributes":{"group":"","resource":"pods","verb":"get"},"uid":"",)"
          R"("user":"a\"}}"})",
          R"({"nonResourceAttributes":{"path":"/metrics","verb":"get"},"uid":"","user":"a\"}}"})"}));
}

TEST_F(SelfReviewTest, StopsAtTheFirstError) {
  size_t asked = 0;
  client_.Handle([&](const RestRequest&) -> absl::StatusOr<HttpResponse> {
    if (++asked == 3) return absl::InternalError("etcd");
    if (asked > 3) return absl::UnavailableError("later");
    return FakeRestClient::Json(201, R"({"status":{"allowed":true}})");
  });
  const std::vector<AccessQuestion> questions(20, {"", ToGet("pods")});
  const auto reviews = ReviewOwnAccess(Soon(), client_, questions, 2);
  EXPECT_EQ(reviews.status(), absl::InternalError("etcd"));
  EXPECT_LE(asked, 4u);
}

TEST_F(SelfReviewTest, IsAnErrorOnTheLoop) {
  loop_.Post([&] {
    ASSERT_FALSE(loop_.CanAwait());
    const std::vector<AccessQuestion> questions(2, {"", ToGet("pods")});
    EXPECT_TRUE(
        absl::IsFailedPrecondition(ReviewOwnAccess(Soon(), client_, questions, 2).status()));
  });
  loop_.RunReady();
}

TEST_F(SelfReviewTest, AnEmptyAnswerIsAnError) {
  Answer(absl::UnavailableError("gone"));
  EXPECT_TRUE(absl::IsUnavailable(WhoAmI(Soon(), client_).status()));
  Answer(FakeRestClient::Json(403, ""));
  EXPECT_TRUE(absl::IsPermissionDenied(
      CanI(Soon(), client_, "", {.verbs = {"get"}, .api_groups = {""}, .resources = {"pods"}})
          .status()));
  Answer(FakeRestClient::Json(201, "no JSON"));
  EXPECT_FALSE(WhoAmI(Soon(), client_).ok());
}

}  // namespace
}  // namespace mandate
