// Tests a property that no real server has. The rows of testing/conformance/rows (access_*, rbac)
// test access control over HTTPS.
#include "testing/apiserver/access/access.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"
#include "testing/apiserver/access/object_table.h"

namespace mandate::apiserver {
namespace {

constexpr char kAccount[] = R"({"metadata":{"namespace":"ops","name":"builder","uid":"sa-1"}})";

class AccessTest : public ::testing::Test {
 protected:
  AccessTest() {
    objects_.Put({"", "namespaces"}, R"({"metadata":{"name":"ops"}})");
    objects_.Put({"", "serviceaccounts"}, kAccount);
  }

  // A new token of the account, issued by `access`.
  static std::string Token(Access& access) {
    Request request;
    request.attributes.ns = "ops";
    request.attributes.name = "builder";
    std::string token;
    for (const VirtualResource& one : access.plugin().resources) {
      if (one.resource != "serviceaccounts/token") continue;
      one.create(request, Json::Value(Json::objectValue), [&](absl::StatusOr<Json::Value> answer) {
        token = answer.value()["status"]["token"].asString();
      });
    }
    return token;
  }

  SimulatedLoop loop_;
  ObjectTable objects_;
};

TEST_F(AccessTest, SameSeedGivesSameTokens) {
  Access access({}, objects_, loop_);
  Access same({}, objects_, loop_);
  const std::string first = Token(access);
  EXPECT_NE(first, Token(access));
  EXPECT_EQ(first, Token(same));
}

}  // namespace
}  // namespace mandate::apiserver
