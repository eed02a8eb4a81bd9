#include "manager/base_permissions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/json.h"

namespace mandate {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class BasePermissionsTest : public testing::Test {
 protected:
  // Base may do what is listed, as "verb group/resource namespace".
  absl::StatusOr<BasePermissions> Ask(const std::set<std::string>& allowed) {
    client_.Handle([=](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
      Json::Value review = ParseJson(request.body).value();
      EXPECT_TRUE(request.target.ends_with("/selfsubjectaccessreviews")) << request.target;
      const Json::Value& asked = review["spec"]["resourceAttributes"];
      EXPECT_FALSE(asked.isMember("name")) << "a right to one object is no right to all";
      std::string resource = asked["resource"].asString();
      if (asked.isMember("subresource")) StrAppend(&resource, "/", asked["subresource"].asString());
      const std::string right = StrCat(asked["verb"].asString(), " ", asked["group"].asString(),
                                       "/", resource, " ", asked["namespace"].asString());
      review["status"]["allowed"] = allowed.contains(right);
      return FakeRestClient::Json(200, WriteJson(review));
    });
    return ReviewBasePermissions({loop_.clock().TimeNow() + absl::Seconds(15), {}}, client_, "ops");
  }

  SimulatedLoop loop_;
  FakeRestClient client_{loop_, "base"};
};

TEST_F(BasePermissionsTest, RejectsACredentialThatMayDoAnything) {
  const auto permissions = Ask({"* */* "});
  ASSERT_TRUE(permissions.ok()) << permissions.status();
  EXPECT_TRUE(permissions->unlimited);
  const absl::Status refusal = RejectUnlimited(*permissions, "ann", "ops", "acme");
  EXPECT_TRUE(absl::IsFailedPrecondition(refusal)) << refusal;
  EXPECT_THAT(std::string(refusal.message()),
              AllOf(HasSubstr("\"ann\""), HasSubstr("create token acme -n ops")));
}

TEST_F(BasePermissionsTest, ReportsNoExcessForBasesOwnGrants) {
  const auto permissions = Ask({});
  ASSERT_TRUE(permissions.ok()) << permissions.status();
  EXPECT_FALSE(permissions->unlimited);
  EXPECT_THAT(permissions->excess, IsEmpty());
  EXPECT_TRUE(RejectUnlimited(*permissions, "ann", "ops", "acme").ok());
}

TEST_F(BasePermissionsTest, ListsPermissionsThatLeadToThoseOfOthers) {
  struct Row {
    std::string right;
    std::string excess;
  };
  const std::string acts = "(acts as these ServiceAccounts)";
  const Row rows[] = {
      {"create /serviceaccounts/token ", "create serviceaccounts/token " + acts},
      {"create /serviceaccounts/token ops",
       "create serviceaccounts/token " + acts + " in namespace ops"},
      {"impersonate /serviceaccounts ops",
       "impersonate serviceaccounts " + acts + " in namespace ops"},
      {"impersonate /users ", "impersonate users (acts as these users)"},
      {"watch /secrets ops", "watch secrets (reads credentials) in namespace ops"},
      {"patch apps/deployments ", "patch deployments (runs as any ServiceAccount there)"},
      {"bind rbac.authorization.k8s.io/clusterroles ops",
       "bind clusterroles (grants roles that it does not hold) in namespace ops"},
      {"escalate rbac.authorization.k8s.io/clusterroles ",
       "escalate clusterroles (writes roles with permissions that it does not hold)"},
  };
  for (const Row& row : rows) {
    const auto permissions = Ask({row.right});
    ASSERT_TRUE(permissions.ok()) << permissions.status();
    EXPECT_THAT(permissions->excess, ElementsAre(row.excess));
    EXPECT_TRUE(RejectUnlimited(*permissions, "ann", "ops", "acme").ok());
  }
}

TEST_F(BasePermissionsTest, IgnoresRightsThatAreNotCritical) {
  const auto permissions =
      Ask({"create /serviceaccounts ", "patch /namespaces ", "update /configmaps "});
  ASSERT_TRUE(permissions.ok()) << permissions.status();
  EXPECT_THAT(permissions->excess, IsEmpty());
}

TEST_F(BasePermissionsTest, ReturnsErrorsOfTheServer) {
  client_.Handle([](const RestRequest&) { return absl::UnavailableError("gone"); });
  EXPECT_TRUE(absl::IsUnavailable(
      ReviewBasePermissions({loop_.clock().TimeNow() + absl::Seconds(1), {}}, client_, "ops")
          .status()));
}

}  // namespace
}  // namespace mandate
