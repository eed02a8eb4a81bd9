#include "testing/apiserver/access/bootstrap_policy.h"

#include <memory>
#include <string>

#include "gtest/gtest.h"
#include "manager/object/json.h"
#include "manager/rbac/authorizer.h"
#include "manager/rbac/request_info.h"
#include "manager/rbac/user.h"
#include "testing/apiserver/access/object_table.h"
#include "testing/apiserver/access/stored_policy.h"

namespace mandate::apiserver {
namespace {

class BootstrapPolicyTest : public ::testing::Test {
 protected:
  BootstrapPolicyTest() {
    for (const std::string& object : BootstrapPolicy()) {
      const bool role = ParseJson(object).value()["kind"] == "ClusterRole";
      objects_.Put({rbac::kRbacGroup, role ? "clusterroles" : "clusterrolebindings"}, object);
    }
  }
  ObjectTable objects_;
  const rbac::Authorizer authorizer_{std::make_unique<StoredPolicy>(objects_)};
};

TEST_F(BootstrapPolicyTest, GivesEachWhatTheServerGives) {
  const rbac::UserInfo account = rbac::ServiceAccountInfo("ops", "builder");
  const rbac::UserInfo jane = rbac::AuthenticatedInfo("jane");
  const rbac::UserInfo nobody = rbac::AnonymousInfo();
  const rbac::UserInfo root = rbac::AuthenticatedInfo("root", {"system:masters"});
  const std::string reviews = "/apis/authorization.k8s.io/v1/";
  struct Case {
    std::string method, target;
    rbac::UserInfo user;
    bool allowed;
  };
  const Case cases[] = {
      {"GET", "/version", nobody, true},
      {"GET", "/healthz", nobody, true},
      {"GET", "/api", nobody, false},
      {"GET", "/api", jane, true},
      {"GET", "/apis/apps/v1", jane, true},
      {"GET", "/metrics", jane, false},
      {"POST", reviews + "selfsubjectaccessreviews", jane, true},
      {"POST", reviews + "selfsubjectaccessreviews", nobody, false},
      {"POST", reviews + "selfsubjectrulesreviews", account, true},
      {"POST", reviews + "subjectaccessreviews", account, false},
      {"POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", account, true},
      {"POST", "/apis/authentication.k8s.io/v1/tokenreviews", account, false},
      {"GET", "/openid/v1/jwks", account, true},
      {"GET", "/openid/v1/jwks", jane, false},
      {"GET", "/api/v1/pods", account, false},
      {"GET", "/api/v1/pods", root, true},
      {"DELETE", "/anything", root, true},
  };
  for (const Case& c : cases) {
    const auto attributes = rbac::AttributesOf(c.method, c.target);
    ASSERT_TRUE(attributes.ok()) << attributes.status();
    EXPECT_EQ(authorizer_.Authorize(c.user, *attributes).allowed, c.allowed)
        << c.user.name << " " << c.method << " " << c.target;
  }
}

}  // namespace
}  // namespace mandate::apiserver
