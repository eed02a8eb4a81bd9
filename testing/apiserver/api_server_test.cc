#include "testing/apiserver/api_server.h"

#include <memory>
#include <string>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/transport/testing/transport_fixture.h"

namespace mandate::apiserver {
namespace {

using ::testing::HasSubstr;

constexpr char kMaps[] = "/api/v1/namespaces/default/configmaps";

class ApiServerTest : public TransportFixture {
 protected:
  void SetUp() override {
    auto server = ApiServer::Create({});
    ASSERT_TRUE(server.ok()) << server.status();
    double_ = *std::move(server);
    auto endpoint = std::make_shared<Endpoint>();
    endpoint->server = double_->url();
    endpoint->ca_pem = double_->ca_pem();
    endpoint_ = std::move(endpoint);
    StartTransport();
  }
  void TearDown() override {
    TransportFixture::TearDown();
    double_.reset();
  }

  int Create(const std::string& name) {
    HttpRequest request = Request(kMaps, kAdminToken, "POST");
    request.content_type = "application/json";
    request.body = R"({"metadata":{"name":")" + name + R"("}})";
    const auto response = Call(std::move(request));
    return response.ok() ? response->code : 0;
  }

  std::unique_ptr<ApiServer> double_;
};

TEST_F(ApiServerTest, ServesOverHttps) {
  const auto version = Call(Request("/version", kAdminToken));
  ASSERT_TRUE(version.ok()) << version.status();
  EXPECT_THAT(version->body, HasSubstr(R"("gitVersion":"v1.36)"));
  EXPECT_EQ(Create("a"), 201);
  EXPECT_EQ(Create("a"), 409);
  const auto stranger = Call(Request(kMaps, "no-token-of-ours"));
  ASSERT_TRUE(stranger.ok());
  EXPECT_EQ(stranger->code, 401);
}

TEST_F(ApiServerTest, StreamsUntilTheClientCloses) {
  Watch watch = Open(Request(std::string(kMaps) + "?watch=1", kAdminToken));
  const auto watches = [this] {
    size_t count = 0;
    double_->OnLoop([&](ServerCore& core) { count = core.stats().watches; });
    return count;
  };
  ASSERT_TRUE(Eventually([&] { return watches() == 1; }));
  EXPECT_EQ(Create("a"), 201);
  EXPECT_TRUE(Eventually(
      [&] { return watch.sink->data().find(R"("type":"ADDED")") != std::string::npos; }));
  watch.stream.reset();
  EXPECT_TRUE(Eventually([&] { return watches() == 0; }));
}

TEST_F(ApiServerTest, GoAwayKeepsWatchesOpen) {
  Watch watch = Open(Request(std::string(kMaps) + "?watch=1", kAdminToken));
  ASSERT_TRUE(Eventually([&] { return watch.sink->code() == 200; }));
  double_->connections().GoAway();
  EXPECT_EQ(Create("a"), 201);
  EXPECT_TRUE(
      Eventually([&] { return watch.sink->data().find(R"("name":"a")") != std::string::npos; }));
  EXPECT_GE(double_->connections().stats().accepted, 2u);
}

TEST_F(ApiServerTest, FaultDropsTheConnection) {
  double_->OnLoop([](ServerCore& core) {
    core.faults().Add({.verb = "list", .times = 1, .fault = {.drop = true}});
  });
  EXPECT_FALSE(Call(Request(kMaps, kAdminToken)).ok());
  EXPECT_TRUE(Call(Request(kMaps, kAdminToken)).ok());
}

}  // namespace
}  // namespace mandate::apiserver
