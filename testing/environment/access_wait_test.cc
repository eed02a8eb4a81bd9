#include "testing/environment/access_wait.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "manager/core/secret.h"
#include "manager/core/testing/must.h"
#include "testing/apiserver/api_server.h"

namespace mandate {
namespace {

class AccessWaitTest : public testing::Test {
 protected:
  AccessWaitTest() {
    ClusterConfig cluster;
    cluster.endpoint.server = server_->url();
    cluster.endpoint.ca_pem = server_->ca_pem();
    cluster.base = StaticToken{std::make_shared<const Secret>(apiserver::kAdminToken)};
    administrator_ = Must(Administrator::Create(cluster));
  }
  static ExpectedAccess Get(const std::string& resource, bool allowed) {
    return {{"shop", {.verbs = {"get"}, .api_groups = {""}, .resources = {resource}}}, allowed};
  }
  absl::Status Await(const std::vector<ExpectedAccess>& expected,
                     absl::Duration patience = absl::Seconds(30)) {
    return AwaitAccess(*administrator_, patience, "nobody", expected);
  }

  std::unique_ptr<apiserver::ApiServer> server_ = Must(apiserver::ApiServer::Create({}));
  std::unique_ptr<Administrator> administrator_;
};

TEST_F(AccessWaitTest, EndsWhenEachAnswerIsAsExpected) {
  EXPECT_EQ(Await({}), absl::OkStatus());
  EXPECT_EQ(Await({Get("pods", false), Get("secrets", false)}), absl::OkStatus());
  for (const auto& expected : {std::vector{Get("pods", false), Get("secrets", true)},
                               std::vector{Get("secrets", true), Get("pods", false)}}) {
    const absl::Status late = Await(expected, absl::Milliseconds(200));
    EXPECT_TRUE(absl::IsDeadlineExceeded(late)) << late;
    EXPECT_NE(late.message().find("does not let nobody get secrets in namespace"),
              absl::string_view::npos)
        << late;
  }
}

}  // namespace
}  // namespace mandate
