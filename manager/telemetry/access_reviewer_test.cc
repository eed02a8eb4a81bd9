#include "manager/telemetry/access_reviewer.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/client/testing/mandate_server.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/kinds/authentication_v1.h"
#include "manager/object/kinds/authorization_v1.h"
#include "manager/object/object_codec.h"
#include "manager/telemetry/mandates.h"

namespace mandate {
namespace {

using authenticationv1::TokenReview;
using authorizationv1::SubjectAccessReview;

template <class Review>
Review Sent(const RestRequest& request) {
  return *DecodeObject<Review>(request.body, KindOf<Review>::value.encoding);
}
template <class Review>
HttpResponse Answered(const Review& review) {
  HttpResponse response;
  response.code = 201;
  response.content_type = "application/vnd.kubernetes.protobuf";
  response.body = *EncodeObject(review, KindOf<Review>::value.encoding);
  return response;
}

// A token is its user's name, unless `user_` is set. The tokens "" and "nobody" have no user.
class AccessReviewerTest : public testing::Test {
 protected:
  AccessReviewerTest() {
    client_.Handle([this](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
      if (std::optional<HttpResponse> no = rights_.Deny(request)) return *no;
      if (request.target.starts_with("/apis/authentication.k8s.io/v1/tokenreviews?")) {
        ++token_reviews_;
        if (!token_error_.ok()) return token_error_;
        TokenReview review = Sent<TokenReview>(request);
        const std::string token = review.spec().token();
        review.mutable_status()->set_authenticated(token != "nobody");
        if (token != "nobody") {
          auto* user = review.mutable_status()->mutable_user();
          *user = user_;
          if (user->username().empty()) user->set_username(token);
        }
        return Answered(review);
      }
      EXPECT_TRUE(request.target.starts_with("/apis/authorization.k8s.io/v1/subjectaccessreviews?"))
          << request.target;
      ++access_reviews_;
      if (!access_error_.ok()) return access_error_;
      SubjectAccessReview review = Sent<SubjectAccessReview>(request);
      asked_ = review.spec();
      review.mutable_status()->set_allowed(review.spec().user() == allowed_);
      return Answered(review);
    });
    user_.set_uid("7");
    user_.add_groups("g1");
    user_.add_groups("g2");
    (*user_.mutable_extra())["k"].add_items("v");
    Make();
  }
  void Make(AccessReviewer::Options options = {}) {
    options.client = &client_;
    options.workers = &pool_;
    options.metrics = &metrics_;
    reviewer_ = *AccessReviewer::Create(options);
  }

  // The answer's code; 0 if the request may be served.
  int Ask(const std::string& token, const std::string& path = "/metrics") {
    std::optional<int> code;
    reviewer_->Check({.verb = "get", .path = path, .bearer = token},
                     [&](std::optional<ServedResponse> answer) {
                       code = answer.has_value() ? answer->code : 0;
                       text_ = answer.has_value() ? answer->body : "";
                     });
    EXPECT_TRUE(loop_.RunUntil([&] { return code.has_value(); }));
    return code.value_or(-1);
  }

  SimulatedLoop loop_;
  SimulatedPool pool_{loop_, 1};
  Metrics metrics_;
  FakeRestClient client_{loop_, "metrics-auth"};
  const MandateServer rights_{kMetricsAuth};
  std::unique_ptr<AccessReviewer> reviewer_;
  k8s::io::api::authentication::v1::UserInfo user_;  // the user of every token, if it has a name
  absl::Status token_error_, access_error_;
  std::string allowed_ = "prometheus";
  int token_reviews_ = 0;
  int access_reviews_ = 0;
  k8s::io::api::authorization::v1::SubjectAccessReviewSpec asked_;
  std::string text_;
};

TEST_F(AccessReviewerTest, ServesAnAllowedUser) {
  EXPECT_EQ(Ask("prometheus"), 0);
  EXPECT_EQ(asked_.user(), "prometheus");
  EXPECT_EQ(asked_.uid(), "7");
  ASSERT_EQ(asked_.groups_size(), 2);
  EXPECT_EQ(asked_.groups(1), "g2");
  EXPECT_EQ(asked_.extra().at("k").items(0), "v");
  EXPECT_EQ(asked_.nonresourceattributes().verb(), "get");
  EXPECT_EQ(asked_.nonresourceattributes().path(), "/metrics");
  EXPECT_FALSE(asked_.has_resourceattributes());
}

TEST_F(AccessReviewerTest, RejectsARequestWithoutAToken) {
  EXPECT_EQ(Ask(""), 401);
  EXPECT_EQ(token_reviews_, 0);
}

TEST_F(AccessReviewerTest, AnswersUnknownTokensWith401AndDeniedUsersWith403) {
  EXPECT_EQ(Ask("nobody"), 401);
  EXPECT_EQ(access_reviews_, 0);
  EXPECT_EQ(Ask("eve"), 403);
  EXPECT_NE(text_.find("eve"), std::string::npos);
}

TEST_F(AccessReviewerTest, AnswersAFailedReviewWith500AndForgetsIt) {
  token_error_ = absl::UnavailableError("down");
  EXPECT_EQ(Ask("prometheus"), 500);
  token_error_ = absl::OkStatus();
  access_error_ = absl::PermissionDeniedError("metrics-auth may not");
  EXPECT_EQ(Ask("prometheus"), 500);
  EXPECT_EQ(text_.find("metrics-auth"), std::string::npos);  // the scraper's business it is not
  access_error_ = absl::OkStatus();
  EXPECT_EQ(Ask("prometheus"), 0);
  EXPECT_EQ(token_reviews_, 2);
  EXPECT_EQ(access_reviews_, 2);
}

TEST_F(AccessReviewerTest, RemembersAnswersForAWhile) {
  EXPECT_EQ(Ask("prometheus"), 0);
  EXPECT_EQ(Ask("eve"), 403);
  EXPECT_EQ(Ask("nobody"), 401);
  allowed_ = "eve";
  loop_.RunFor(absl::Seconds(29));
  EXPECT_EQ(Ask("eve"), 403);
  EXPECT_EQ(Ask("nobody"), 401);
  EXPECT_EQ(token_reviews_, 3);
  EXPECT_EQ(access_reviews_, 2);
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(Ask("eve"), 0);  // what was denied is asked again after 30 s
  loop_.RunFor(absl::Seconds(30));
  EXPECT_EQ(Ask("nobody"), 401);  // whose token it is, after a minute
  EXPECT_EQ(token_reviews_, 4);
  EXPECT_EQ(Ask("prometheus"), 0);  // and what was allowed, after five
  EXPECT_EQ(token_reviews_, 5);
  EXPECT_EQ(access_reviews_, 3);
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(Ask("prometheus"), 403);
}

TEST_F(AccessReviewerTest, ReviewsEachPath) {
  EXPECT_EQ(Ask("prometheus"), 0);
  EXPECT_EQ(Ask("prometheus", "/other"), 0);
  EXPECT_EQ(token_reviews_, 1);
  EXPECT_EQ(access_reviews_, 2);
  EXPECT_EQ(asked_.nonresourceattributes().path(), "/other");
}

TEST_F(AccessReviewerTest, ReviewsEachUser) {
  user_.set_username("prometheus");
  const auto reviews_after_another_token = [this] {
    EXPECT_EQ(Ask(StrCat("token ", token_reviews_)), 0);
    return access_reviews_;
  };
  EXPECT_EQ(reviews_after_another_token(), 1);
  EXPECT_EQ(reviews_after_another_token(), 1) << "the user is the same";
  user_.set_uid("8");
  EXPECT_EQ(reviews_after_another_token(), 2);
  user_.add_groups("g3");
  EXPECT_EQ(reviews_after_another_token(), 3);
  user_.mutable_extra()->clear();
  (*user_.mutable_extra())["l"].add_items("v");
  EXPECT_EQ(reviews_after_another_token(), 4);
  user_.mutable_extra()->clear();
  user_.add_groups("=l");
  user_.add_groups("v");
  EXPECT_EQ(reviews_after_another_token(), 5) << "groups are not extra values";
}

TEST_F(AccessReviewerTest, AnswersAreBounded) {
  Make({.max_answers = 2});
  for (const char* token : {"a", "b", "c", "a"}) EXPECT_EQ(Ask(token), 403);
  EXPECT_EQ(token_reviews_, 4);
  EXPECT_EQ(Ask("c"), 403);
  EXPECT_EQ(token_reviews_, 4);
}

TEST_F(AccessReviewerTest, WaitingRequestsAreBounded) {
  Make({.max_waiting = 2});
  std::vector<int> codes;
  for (const char* token : {"a", "b", "c"}) {
    reviewer_->Check({.verb = "get", .path = "/metrics", .bearer = token},
                     [&](std::optional<ServedResponse> answer) { codes.push_back(answer->code); });
  }
  EXPECT_EQ(codes, std::vector<int>{503});
  EXPECT_TRUE(loop_.RunUntil([&] { return codes.size() == 3; }));
  EXPECT_EQ(codes, (std::vector<int>{503, 403, 403}));
  EXPECT_EQ(metrics_
                .Counter("mandate_access_reviews_total", "",
                         {{"review", "token"}, {"outcome", "dropped"}})
                .Value(),
            1);
}

TEST_F(AccessReviewerTest, RejectsAnotherComponentsClient) {
  FakeRestClient other(loop_, "scope");
  EXPECT_FALSE(
      AccessReviewer::Create({.client = &other, .workers = &pool_, .metrics = &metrics_}).ok());
}

TEST_F(AccessReviewerTest, EndsWhileAReviewRuns) {
  client_.SetDelay([] { return absl::Seconds(3); });
  std::optional<int> code;
  loop_.PostAt(loop_.clock().TimeNow() + absl::Seconds(1), [this] { reviewer_.reset(); });
  reviewer_->Check({.verb = "get", .path = "/metrics", .bearer = "a"},
                   [&](std::optional<ServedResponse> answer) { code = answer->code; });
  EXPECT_TRUE(loop_.RunUntil([&] { return code.has_value(); }));
}

}  // namespace
}  // namespace mandate
