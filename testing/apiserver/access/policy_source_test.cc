#include "testing/apiserver/access/policy_source.h"

#include "gtest/gtest.h"
#include "manager/rbac/request_info.h"
#include "manager/rbac/user.h"
#include "testing/apiserver/access/object_table.h"

namespace mandate::apiserver {
namespace {

const GroupResource kRoles{"rbac.authorization.k8s.io", "roles"};
const GroupResource kBindings{"rbac.authorization.k8s.io", "rolebindings"};
constexpr char kRole[] = R"({"metadata":{"namespace":"shop","name":"reader"},
    "rules":[{"verbs":["get"],"apiGroups":[""],"resources":["pods"]}]})";
constexpr char kNoRules[] = R"({"metadata":{"namespace":"shop","name":"reader"},"rules":null})";
constexpr char kBinding[] = R"({"metadata":{"namespace":"shop","name":"b"},
    "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"Role","name":"reader"},
    "subjects":[{"kind":"ServiceAccount","name":"builder","namespace":"ops"}]})";

TEST(PolicySourceTest, GrantsCountFromTheNextQuestionOn) {
  ObjectTable objects;
  PolicySource source(objects);
  const auto allowed = [&] {
    return source.Current()
        ->Authorize(rbac::ServiceAccountInfo("ops", "builder"),
                    rbac::AttributesOf("GET", "/api/v1/namespaces/shop/pods/a").value())
        .allowed;
  };
  EXPECT_FALSE(allowed());
  objects.Put(kRoles, kRole);
  EXPECT_FALSE(allowed());
  objects.Put(kBindings, kBinding);
  EXPECT_TRUE(allowed());
  objects.Put(kRoles, kNoRules);
  EXPECT_FALSE(allowed());
  objects.Put(kRoles, kRole);
  EXPECT_TRUE(allowed());
  objects.Delete(kBindings, "shop", "b");
  EXPECT_FALSE(allowed());
}

TEST(PolicySourceTest, OtherObjectsDoNotMakeItNew) {
  ObjectTable objects;
  PolicySource source(objects);
  const auto before = source.Current();
  objects.Put({"", "pods"}, R"({"metadata":{"namespace":"shop","name":"a"}})");
  EXPECT_EQ(source.Current(), before);
  objects.Put(kRoles, kRole);
  EXPECT_NE(source.Current(), before);
}

}  // namespace
}  // namespace mandate::apiserver
