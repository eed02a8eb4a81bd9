#include "testing/apiserver/access/stored_policy.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/rbac/authorizer.h"
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

TEST(StoredPolicyTest, ChangesTakeEffectAtOnce) {
  ObjectTable objects;
  const rbac::Authorizer authorizer(std::make_unique<StoredPolicy>(objects));
  const auto allowed = [&] {
    return authorizer
        .Authorize(rbac::ServiceAccountInfo("ops", "builder"),
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

TEST(StoredPolicyTest, DecodedRulesFollowTheirObjects) {
  ObjectTable objects;
  const StoredPolicy policy(objects);
  const auto role = [](std::string_view name, std::string_view verb) {
    return StrCat(R"({"metadata":{"namespace":"shop","name":")", name, R"("},"rules":[{"verbs":[")",
                  verb, R"("]}]})");
  };
  const auto read = [&] {
    std::string all;
    for (const std::string name : {"a", "b", "c", "d", "e", "f"}) {
      const auto* rules = policy.RulesOfRole("shop", name);
      if (rules != nullptr) StrAppend(&all, name, "=", rules->front().verbs[0], " ");
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

TEST(StoredPolicyTest, StopsVisitingOnFalse) {
  ObjectTable objects;
  const StoredPolicy policy(objects);
  const auto put = [&](std::string_view resource, std::string_view ns, std::string_view name) {
    objects.Put({rbac::kRbacGroup, std::string(resource)},
                StrCat(R"({"metadata":{"namespace":")", ns, R"(","name":")", name, R"("}})"));
  };
  for (const char* name : {"1", "2", "3"}) put("clusterrolebindings", "", name);
  for (const char* ns : {"bank", "shop"}) {
    for (const char* name : {"4", "5"}) put("rolebindings", ns, name);
  }
  std::string visited;
  const auto until = [&](std::string_view last) {
    visited.clear();
    return [&visited, last](const auto& binding) {
      StrAppend(&visited, binding.name, " ");
      return binding.name != last;
    };
  };
  policy.VisitClusterRoleBindings(until(""));
  EXPECT_EQ(visited, "1 2 3 ");
  policy.VisitClusterRoleBindings(until("2"));
  EXPECT_EQ(visited, "1 2 ");
  policy.VisitRoleBindings("shop", until(""));
  EXPECT_EQ(visited, "4 5 ");
  policy.VisitRoleBindings("shop", until("4"));
  EXPECT_EQ(visited, "4 ");
  policy.VisitRoleBindings("none", until(""));
  EXPECT_EQ(visited, "");
  EXPECT_EQ(policy.BindingNamespaces(), (std::vector<std::string>{"bank", "shop"}));
}

}  // namespace
}  // namespace mandate::apiserver
