#include "manager/rbac/user.h"

#include <string>

#include "gtest/gtest.h"

namespace mandate::rbac {
namespace {

using Strings = std::vector<std::string>;

TEST(UserTest, ServiceAccountsHaveThreeImplicitGroups) {
  const UserInfo user = ServiceAccountInfo("ops", "builder");
  EXPECT_EQ(user.name, "system:serviceaccount:ops:builder");
  EXPECT_EQ(user.groups, (Strings{"system:serviceaccounts", "system:serviceaccounts:ops",
                                  "system:authenticated"}));
}

TEST(UserTest, AuthenticatedIsAddedOnce) {
  EXPECT_EQ(AuthenticatedInfo("jane").groups, Strings{"system:authenticated"});
  EXPECT_EQ(AuthenticatedInfo("jane", {"dev"}).groups, (Strings{"dev", "system:authenticated"}));
  EXPECT_EQ(AuthenticatedInfo("jane", {"system:authenticated", "dev"}).groups,
            (Strings{"system:authenticated", "dev"}));
}

TEST(UserTest, AnonymousIsNotAuthenticated) {
  EXPECT_EQ(AnonymousInfo(), (UserInfo{"system:anonymous", {"system:unauthenticated"}}));
}

TEST(UserTest, ParsesOnlyServiceAccountUsers) {
  EXPECT_EQ(ParseServiceAccountUser("system:serviceaccount:ops:builder"),
            (ServiceAccountName{"ops", "builder"}));
  for (const char* other :
       {"", "jane", "system:serviceaccount:", "system:serviceaccount:ops",
        "system:serviceaccount:ops:", "system:serviceaccount::builder",
        "system:serviceaccount:ops:builder:x", "system:serviceaccounts:ops:builder",
        "System:serviceaccount:ops:builder"}) {
    EXPECT_EQ(ParseServiceAccountUser(other), std::nullopt) << other;
  }
}

static_assert(IsServiceAccountUser("system:serviceaccount:ops:builder", "ops", "builder"));
static_assert(!IsServiceAccountUser("system:serviceaccount:ops:builder", "ops", "build"));
static_assert(!IsServiceAccountUser("system:serviceaccount:ops:builder", "op", "builder"));
static_assert(!IsServiceAccountUser("system:serviceaccount:opsbuilder:", "ops", "builder"));
static_assert(!IsServiceAccountUser("ops:builder", "ops", "builder"));
// The right total length is not enough.
static_assert(!IsServiceAccountUser("system:serviceaccount:op:sbuilder", "ops", "builder"));

}  // namespace
}  // namespace mandate::rbac
