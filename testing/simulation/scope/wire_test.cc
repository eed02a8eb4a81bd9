#include "testing/simulation/scope/wire.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "manager/core/secret.h"
#include "manager/transport/testing/fake_transport.h"

namespace mandate::simulation {
namespace {

constexpr char kRoles[] = "/apis/rbac.authorization.k8s.io/v1/clusterroles";

class WireTest : public testing::Test {
 protected:
  WireTest() {
    server_.Handle([this](const HttpRequest&) {
      ++served_;
      return FakeReply::Json(201, "{}");
    });
  }

  // Whether an answer arrived.
  bool Post(const std::string& target) {
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->server = "https://double";
    endpoint->ca_pem = "CA";
    HttpRequest request(endpoint, BearerToken{std::make_shared<Secret>("t")}, "POST", target);
    std::optional<bool> answered;
    wire_.Call({loop_.clock().TimeNow() + absl::Minutes(1), {}}, std::move(request),
               [&](absl::StatusOr<HttpResponse> answer) { answered = answer.ok(); });
    loop_.RunReady();
    EXPECT_TRUE(answered.has_value());
    return answered.value_or(false);
  }

  SimulatedLoop loop_;
  FakeTransport server_{loop_};
  Wire wire_{loop_, server_};
  int served_ = 0;
};

TEST_F(WireTest, LetsThroughWhatIsBeforeTheDeathAndNothingAfter) {
  wire_.DieAt(2, Wire::Death::kRequestLost);
  EXPECT_TRUE(Post(kRoles));
  EXPECT_FALSE(wire_.dead());
  EXPECT_FALSE(Post(kRoles));
  EXPECT_TRUE(wire_.dead());
  EXPECT_FALSE(Post(kRoles));
  EXPECT_EQ(served_, 1);
}

TEST_F(WireTest, TheAnswerIsLostButTheRequestIsServed) {
  wire_.DieAt(1, Wire::Death::kAnswerLost);
  EXPECT_FALSE(Post(kRoles));
  EXPECT_EQ(served_, 1);
}

TEST_F(WireTest, TheRequestArrivesAfterTheDeath) {
  wire_.DieAt(1, Wire::Death::kRequestDelayed, absl::Seconds(30));
  EXPECT_FALSE(Post(kRoles));
  loop_.RunFor(absl::Seconds(29));
  EXPECT_EQ(served_, 0);
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(served_, 1);
}

TEST_F(WireTest, OnlyObjectWritesCount) {
  wire_.DieAt(1, Wire::Death::kRequestLost);
  EXPECT_TRUE(Post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"));
  EXPECT_TRUE(Post("/api/v1/namespaces/mandate/serviceaccounts/a/token"));
  wire_.Spare();
  EXPECT_TRUE(Post(kRoles));
  EXPECT_FALSE(wire_.dead());
}

}  // namespace
}  // namespace mandate::simulation
