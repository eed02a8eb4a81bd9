#include "testing/apiserver/access/escalation_check.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/object/api_error.h"
#include "manager/object/json.h"
#include "manager/rbac/user.h"

namespace mandate::apiserver {
namespace {

using ::testing::HasSubstr;

constexpr char kGroup[] = "rbac.authorization.k8s.io";

rbac::Rule Rule(std::vector<std::string> verbs, std::vector<std::string> groups,
                std::vector<std::string> resources, std::vector<std::string> names = {}) {
  return {.verbs = std::move(verbs),
          .api_groups = std::move(groups),
          .resources = std::move(resources),
          .resource_names = std::move(names),
          .non_resource_urls = {}};
}

// gr holds: get pods in "shop"; bind of the ClusterRole "view"; escalate of the Role "free".
rbac::Policy Policy() {
  const rbac::Subject gr{.kind = "ServiceAccount", .api_group = "", .name = "gr", .ns = "shop"};
  return {
      .roles = {{.ns = "shop", .name = "own", .rules = {Rule({"get"}, {""}, {"pods"})}},
                {.ns = "shop", .name = "more", .rules = {Rule({"get", "list"}, {""}, {"pods"})}}},
      .cluster_roles = {{.name = "view", .rules = {Rule({"get"}, {""}, {"secrets"})}},
                        {.name = "powers",
                         .rules = {Rule({"bind"}, {kGroup}, {"clusterroles"}, {"view", "gone"}),
                                   Rule({"escalate"}, {kGroup}, {"roles"}, {"free"})}}},
      .role_bindings = {{.ns = "shop",
                         .name = "own",
                         .role_ref = {.api_group = kGroup, .kind = "Role", .name = "own"},
                         .subjects = {gr}},
                        {.ns = "shop",
                         .name = "powers",
                         .role_ref = {.api_group = kGroup, .kind = "ClusterRole", .name = "powers"},
                         .subjects = {gr}}},
      .cluster_role_bindings = {}};
}

class EscalationCheckTest : public ::testing::Test {
 protected:
  // What a write by gr of the object in "shop" comes to.
  absl::Status Check(std::string resource, std::string_view object, std::string_view old = "null",
                     bool cluster = false) {
    Request request;
    static_cast<rbac::UserInfo&>(request.user) = user_;
    WriteAttributes write;
    write.object = ParseJson(object).value();
    write.old_object = ParseJson(old).value();
    write.creates = old == "null";
    write.resource = {kGroup, std::move(resource)};
    write.name = write.object["metadata"]["name"].asString();
    if (!cluster) request.attributes.ns = "shop";
    if (old != "null") request.attributes.name = write.name;
    write.request = &request;
    return CheckEscalation(authorizer_, write);
  }
  static std::string Message(const absl::Status& status) {
    return ApiStatus(status) ? ApiStatus(status)->message() : std::string(status.message());
  }
  static std::string Binding(const std::string& kind, const std::string& name) {
    return R"({"metadata":{"name":"b"},"roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":")" +
           kind + R"(","name":")" + name + R"("}})";
  }

  rbac::UserInfo user_ = rbac::ServiceAccountInfo("shop", "gr");
  rbac::Authorizer authorizer_{Policy()};
};

TEST_F(EscalationCheckTest, WhatOneHoldsOneMayGrant) {
  EXPECT_TRUE(Check("roles", R"({"metadata":{"name":"r"},"rules":[
      {"verbs":["get"],"apiGroups":[""],"resources":["pods"],"resourceNames":["a"]}]})")
                  .ok());
  EXPECT_TRUE(Check("roles", R"({"metadata":{"name":"r"},"rules":[]})").ok());
  EXPECT_TRUE(Check("rolebindings", Binding("Role", "own")).ok());
}

TEST_F(EscalationCheckTest, WhatIsMissingIsTold) {
  const absl::Status status = Check("roles", R"({"metadata":{"name":"r"},"rules":[
      {"verbs":["get","list"],"apiGroups":["apps"],"resources":["deployments"]},
      {"verbs":["get","watch"],"apiGroups":[""],"resources":["pods"]},
      {"verbs":["list","watch"],"apiGroups":[""],"resources":["pods"]},
      {"verbs":["*"],"apiGroups":[""],"resources":["secrets"],"resourceNames":["a","b"]}]})");
  EXPECT_TRUE(IsForbidden(status));
  EXPECT_EQ(Message(status),
            "roles.rbac.authorization.k8s.io \"r\" is forbidden: user "
            "\"system:serviceaccount:shop:gr\" (groups=[\"system:serviceaccounts\" "
            "\"system:serviceaccounts:shop\" \"system:authenticated\"]) is attempting to grant "
            "RBAC permissions not currently held:\n"
            "{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"watch\" \"list\" \"watch\"]}\n"
            "{APIGroups:[\"\"], Resources:[\"secrets\"], ResourceNames:[\"a\"], Verbs:[\"*\"]}\n"
            "{APIGroups:[\"\"], Resources:[\"secrets\"], ResourceNames:[\"b\"], Verbs:[\"*\"]}\n"
            "{APIGroups:[\"apps\"], Resources:[\"deployments\"], Verbs:[\"get\" \"list\"]}");
}

TEST_F(EscalationCheckTest, ABindingNeedsWhatItsRoleHoldsOrBind) {
  EXPECT_THAT(Message(Check("rolebindings", Binding("Role", "more"))),
              HasSubstr("{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\"]}"));
  EXPECT_TRUE(Check("rolebindings", Binding("ClusterRole", "view")).ok());
  // The verb was granted in the namespace only.
  EXPECT_TRUE(IsForbidden(Check("clusterrolebindings", Binding("ClusterRole", "view"), "null",
                                /*cluster=*/true)));
}

TEST_F(EscalationCheckTest, ARoleThatIsMissingIsToldByTheNameOfWhatIsWritten) {
  EXPECT_EQ(Message(Check("rolebindings", Binding("Role", "nope"))),
            "rolebindings.rbac.authorization.k8s.io \"nope\" not found");
  EXPECT_EQ(Message(Check("rolebindings", Binding("ClusterRole", "nope"))),
            "rolebindings.rbac.authorization.k8s.io \"nope\" not found");
  EXPECT_TRUE(Check("rolebindings", Binding("ClusterRole", "gone")).ok());
  EXPECT_EQ(Message(Check("clusterrolebindings", Binding("Role", "own"), "null", true)),
            "Namespace parameter required.");
  const absl::Status odd = Check("rolebindings", Binding("Bot", "x"));
  EXPECT_EQ(HttpCode(odd), 500);
  EXPECT_EQ(Message(odd), "unsupported role reference kind: \"Bot\"");
}

TEST_F(EscalationCheckTest, EscalateNeedsTheNameWhichAPostLacks) {
  constexpr char kFree[] = R"({"metadata":{"name":"free"},"rules":[
      {"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})";
  EXPECT_TRUE(IsForbidden(Check("roles", kFree)));
  EXPECT_TRUE(Check("roles", kFree, R"({"metadata":{"name":"free"},"rules":[]})").ok());
}

TEST_F(EscalationCheckTest, FinalizersAndOwnersAreAnybodys) {
  constexpr char kOld[] = R"({"metadata":{"name":"r","finalizers":["a"]},"rules":[
      {"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})";
  EXPECT_TRUE(Check("roles", R"({"metadata":{"name":"r","ownerReferences":[{"uid":"u"}]},"rules":[
      {"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})",
                    kOld)
                  .ok());
  EXPECT_TRUE(IsForbidden(Check("roles", R"({"metadata":{"name":"r","labels":{"a":"b"}},"rules":[
      {"verbs":["*"],"apiGroups":["*"],"resources":["*"]}]})",
                                kOld)));
}

TEST_F(EscalationCheckTest, AnAggregationNeedsEverything) {
  constexpr char kAggregated[] = R"({"metadata":{"name":"r"},"rules":[],
      "aggregationRule":{"clusterRoleSelectors":[{"matchLabels":{"a":"b"}}]}})";
  const absl::Status status = Check("clusterroles", kAggregated, "null", /*cluster=*/true);
  EXPECT_EQ(Message(status),
            "clusterroles.rbac.authorization.k8s.io \"r\" is forbidden: must have cluster-admin "
            "privileges to use the aggregationRule");
  // Taking one away, too.
  EXPECT_TRUE(IsForbidden(
      Check("clusterroles", R"({"metadata":{"name":"r"},"rules":[]})", kAggregated, true)));
}

TEST_F(EscalationCheckTest, MastersMayAllAndOtherResourcesAreNobodysBusiness) {
  EXPECT_TRUE(Check("roles", R"({"metadata":{"name":"r"}})").ok());
  user_.groups.push_back("system:masters");
  EXPECT_TRUE(Check("rolebindings", Binding("Role", "nope")).ok());
  EXPECT_TRUE(Check("rolebindings", Binding("Bot", "x")).ok());
}

TEST_F(EscalationCheckTest, ReferencesThatDoNotResolveAreAppended) {
  rbac::Policy policy = Policy();
  policy.role_bindings.push_back(policy.role_bindings.front());
  policy.role_bindings.back().role_ref.name = "lost";
  const rbac::Authorizer authorizer(std::move(policy));
  Request request;
  static_cast<rbac::UserInfo&>(request.user) = user_;
  request.attributes.ns = "shop";
  WriteAttributes write;
  write.request = &request;
  write.creates = true;
  write.resource = {kGroup, "rolebindings"};
  write.name = "b";
  write.object = ParseJson(Binding("Role", "more")).value();
  EXPECT_THAT(
      Message(CheckEscalation(authorizer, write)),
      HasSubstr("; resolution errors: [role.rbac.authorization.k8s.io \"lost\" not found]"));
}

}  // namespace
}  // namespace mandate::apiserver
