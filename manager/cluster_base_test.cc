#include "manager/cluster_base.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ClusterBaseTest : public testing::Test {
 protected:
  ClusterBaseTest() {
    client_.Handle([this](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
      if (!server_.ok()) return server_;
      if (request.target == "/version") return FakeRestClient::Json(200, "{}");
      if (request.target.ends_with("/selfsubjectreviews")) {
        return FakeRestClient::Json(201, R"({"status":{"userInfo":{"username":"base"}}})");
      }
      EXPECT_TRUE(request.target.ends_with("/selfsubjectaccessreviews")) << request.target;
      if (!reviews_.ok()) return reviews_;
      return FakeRestClient::Json(
          201, unlimited_ ? R"({"status":{"allowed":true}})" : R"({"status":{"allowed":false}})");
    });
  }
  ~ClusterBaseTest() override {
    base_->StopChecking();
    base_.reset();
    loop_.RunFor(absl::Hours(1));
  }

  absl::Status Check() { return base_->Check({loop_.clock().TimeNow() + absl::Seconds(15), {}}); }
  void KeepChecking() { base_->KeepChecking(pool_, absl::Seconds(15), /*seed=*/1); }

  SimulatedLoop loop_;
  SimulatedPool pool_{loop_, 1};
  FakeRestClient client_{loop_, "base"};
  absl::Status server_;
  absl::Status reviews_;
  bool unlimited_ = false;
  std::vector<absl::StatusCode> lost_;
  const std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  std::unique_ptr<ClusterBase> base_ = std::make_unique<ClusterBase>(ClusterBase::Options{
      .client = &client_,
      .ns = "ops",
      .log = Logger(log_, loop_.clock()),
      .on_lost = [this](const absl::Status& why) { lost_.push_back(why.code()); }});
};

TEST_F(ClusterBaseTest, OneCheckIsEnough) {
  EXPECT_EQ(Check(), absl::OkStatus());
  EXPECT_EQ(base_->Warning(), "");
  EXPECT_EQ(log_->Count("Connected"), 1);
  EXPECT_EQ(Check(), absl::OkStatus());
  EXPECT_EQ(log_->Count("Connected"), 1) << "what is known is not asked again";
}

TEST_F(ClusterBaseTest, AnErrorIsReportedByTheCallerAlone) {
  server_ = absl::UnavailableError("connection refused");
  EXPECT_TRUE(absl::IsUnavailable(Check()));
  EXPECT_EQ(log_->lines().size(), 0u);
}

TEST_F(ClusterBaseTest, AsksUntilTheServerIsBack) {
  server_ = absl::UnavailableError("connection refused");
  KeepChecking();
  loop_.RunFor(absl::Minutes(10));
  EXPECT_THAT(base_->Warning(), HasSubstr("connection refused"));
  EXPECT_EQ(log_->Count("still unknown"), 1) << "one line for all checks";
  server_ = absl::OkStatus();
  reviews_ = absl::InternalError("etcd is away");
  loop_.RunFor(absl::Minutes(10));
  EXPECT_THAT(base_->Warning(), HasSubstr("etcd is away"));
  reviews_ = absl::OkStatus();
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(base_->Warning(), "");
  EXPECT_EQ(log_->Count("are known now"), 1);
  EXPECT_THAT(lost_, IsEmpty());
}

TEST_F(ClusterBaseTest, AnAdministratorsCredentialEndsTheManager) {
  unlimited_ = true;
  EXPECT_TRUE(absl::IsFailedPrecondition(Check()));
  EXPECT_THAT(lost_, IsEmpty()) << "the caller has the error";
  KeepChecking();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(lost_, ElementsAre(absl::StatusCode::kFailedPrecondition));
}

TEST_F(ClusterBaseTest, AMissingCredentialDoesNotEndTheManager) {
  // As RestClient says it: the request was never sent.
  server_ = absl::FailedPreconditionError("the token file does not exist");
  KeepChecking();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_THAT(base_->Warning(), HasSubstr("the token file does not exist"));
  EXPECT_THAT(lost_, IsEmpty());
}

TEST_F(ClusterBaseTest, AnotherUsersTokenEndsTheManager) {
  EXPECT_EQ(Check(), absl::OkStatus());
  loop_.RunFor(absl::Seconds(1));
  client_.Handle([](const RestRequest&) -> absl::StatusOr<HttpResponse> {
    return FakeRestClient::Json(201, R"({"status":{"userInfo":{"username":"mallory"}}})");
  });
  base_->OnNewToken();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_THAT(lost_, ElementsAre(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace mandate
