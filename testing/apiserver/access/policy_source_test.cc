#include "testing/apiserver/access/policy_source.h"

#include "gtest/gtest.h"
#include "manager/core/strings.h"
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

TEST(PolicySourceTest, ValuesStayWithTheirObjects) {
  ObjectTable objects;
  PolicySource source(objects);
  const auto role = [](std::string_view name, std::string_view verb) {
    return StrCat(R"({"metadata":{"namespace":"shop","name":")", name, R"("},"rules":[{"verbs":[")",
                  verb, R"("]}]})");
  };
  const auto read = [&] {
    std::string all;
    for (const rbac::Role& r : source.Current()->policy().roles) {
      StrAppend(&all, r.name, "=", r.rules[0].verbs[0], " ");
    }
    return all;
  };
  for (const char* name : {"a", "c", "e"}) objects.Put(kRoles, role(name, "get"));
  EXPECT_EQ(read(), "a=get c=get e=get ");
  objects.Put(kRoles, role("c", "list"));
  EXPECT_EQ(read(), "a=get c=list e=get ");
  objects.Delete(kRoles, "shop", "a");
  objects.Put(kRoles, role("b", "watch"));
  objects.Put(kRoles, role("f", "patch"));
  EXPECT_EQ(read(), "b=watch c=list e=get f=patch ");
  objects.Delete(kRoles, "shop", "f");
  EXPECT_EQ(read(), "b=watch c=list e=get ");
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
