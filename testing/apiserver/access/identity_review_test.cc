#include "testing/apiserver/access/identity_review.h"

#include "gtest/gtest.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "manager/rbac/user.h"
#include "testing/apiserver/access/object_table.h"

namespace mandate::apiserver {
namespace {

class IdentityReviewTest : public ::testing::Test {
 protected:
  static AuthenticatorOptions Options() {
    AuthenticatorOptions options;
    options.fixed_tokens["root"].name = "admin";
    options.audiences = {"server"};
    return options;
  }
  std::string Review(std::string_view object) {
    const auto answer = ReviewToken(authenticator_, ParseJson(object).value());
    return answer.ok() ? WriteJson(*answer) : ApiStatus(answer.status())->message();
  }
  ObjectTable objects_;
  SimulatedClock clock_;
  Authenticator authenticator_{Options(), objects_, clock_};
};

TEST_F(IdentityReviewTest, OneselfIsTold) {
  Request request;
  static_cast<rbac::UserInfo&>(request.user) = rbac::AnonymousInfo();
  EXPECT_EQ(WriteJson(ReviewOwnIdentity(request, clock_.TimeNow())),
            R"({"metadata":{"creationTimestamp":"2023-11-14T22:13:20Z"},"status":{"userInfo":)"
            R"({"groups":["system:unauthenticated"],"username":"system:anonymous"}}})");
  request.user.uid = "u1";
  request.user.extra["k"] = {"v", "w"};
  EXPECT_EQ(WriteJson(UserJson(request.user)),
            R"({"extra":{"k":["v","w"]},"groups":["system:unauthenticated"],"uid":"u1",)"
            R"("username":"system:anonymous"})");
}

TEST_F(IdentityReviewTest, ATokensOwnerIsTold) {
  EXPECT_EQ(Review(R"({"spec":{"token":"root"}})"),
            R"({"spec":{"token":"root"},"status":{"audiences":["server"],"authenticated":true,)"
            R"("user":{"groups":["system:authenticated"],"username":"admin"}}})");
  EXPECT_EQ(Review(R"({"spec":{"token":"what"}})"),
            R"({"spec":{"token":"what"},"status":{"error":"invalid bearer token","user":{}}})");
  EXPECT_EQ(Review(R"({"spec":{"token":"root","audiences":["another"]}})"),
            R"({"spec":{"audiences":["another"],"token":"root"},)"
            R"("status":{"error":"invalid bearer token","user":{}}})");
  EXPECT_EQ(Review(R"({"spec":{}})"), "token is required for TokenReview in authentication");
}

}  // namespace
}  // namespace mandate::apiserver
