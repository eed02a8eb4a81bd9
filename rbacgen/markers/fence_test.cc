#include "rbacgen/markers/fence.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ReadFence, ReadsEveryArgument) {
  const auto fence = ReadFence(
      "groups=rbac.authorization.k8s.io,resources=rolebindings;clusterrolebindings,"
      "verbs=create;update,owner=\"example.com/Grant\",label=\"example.com/uid\","
      "names=\"g-*\";!g-x,neverLabels=\"a.io/*\",roleRefs=ClusterRole/a;!system:*,"
      "neverSubject=self;manager,guard=example.com/grants,id=grants");
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_THAT(fence->groups, ElementsAre("rbac.authorization.k8s.io"));
  EXPECT_THAT(fence->resources, ElementsAre("rolebindings", "clusterrolebindings"));
  EXPECT_THAT(fence->verbs, ElementsAre("create", "update"));
  EXPECT_EQ(fence->owner, "example.com/Grant");
  EXPECT_EQ(fence->label, "example.com/uid");
  EXPECT_THAT(fence->names, ElementsAre("g-*", "!g-x"));
  EXPECT_THAT(fence->never_labels, ElementsAre("a.io/*"));
  EXPECT_THAT(fence->role_refs, ElementsAre("ClusterRole/a", "!system:*"));
  EXPECT_TRUE(fence->never_self);
  EXPECT_TRUE(fence->never_manager);
  EXPECT_EQ(fence->guard, "example.com/grants");
  EXPECT_EQ(fence->id, "grants");
}

TEST(ReadFence, AppliesToEveryWriteByDefault) {
  const auto fence = ReadFence("groups=core,resources=configmaps,names=x-*");
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_THAT(fence->groups, ElementsAre(""));
  EXPECT_THAT(fence->verbs, ElementsAre("create", "update", "delete"));
}

TEST(ReadFence, ReadsFields) {
  const auto fence = ReadFence("groups=a,resources=b,fields=ab;ab2.c;webhooks[*].a.b");
  ASSERT_TRUE(fence.ok()) << fence.status();
  EXPECT_THAT(fence->fields, ElementsAre("ab", "ab2.c", "webhooks[*].a.b"));
}

TEST(ReadFence, ReportsInvalidFences) {
  const std::string bindings = "groups=rbac.authorization.k8s.io,resources=rolebindings,";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"resources=a,label=x", "missing argument \"groups\""},
      {"groups=a,label=x", "missing argument \"resources\""},
      {"groups=,resources=a,label=x", "groups is empty"},
      {"groups=a,resources=,label=x", "resources is empty"},
      {"groups=a,resources=\"\",label=x", "an empty resource"},
      {"groups=a,resources=Bs,label=x", "\"Bs\" has capital letters"},
      {"groups=a,resources=b,label=x,verbs=patch", "got \"patch\"; a patch counts"},
      {"groups=a,resources=b,label=x,verbs=get", "admission does not see reads"},
      {"groups=a,resources=b", "a fence needs at least one of owner, label"},
      {"groups=a,resources=b,label=\"a b\"", "a b"},
      {"groups=a,resources=b,label=\"a=b c\"", "b c"},
      {"groups=a,resources=b,owner=Kind", "owner must be \"group/Kind\""},
      {"groups=a,resources=b,owner=\"a.io/\"", "owner must be \"group/Kind\""},
      {"groups=a,resources=b,owner=\"/Kind\"", "owner must be \"group/Kind\""},
      {"groups=a,resources=b,owner=\"a.io/v1/Kind\"", "a.io/v1"},
      {"groups=a,label=x,resources=" + std::string(64, 'b'), "set a shorter name with id"},
      {"groups=a,resources=b,names=x,guard=a.io/bs", "add owner or label"},
      {"groups=a,resources=b,label=x,guard=bs", "guard must be \"group/resource\""},
      {"groups=a,resources=b,label=x,guard=a.io/", "guard must be \"group/resource\""},
      {"groups=a,resources=b,label=x,guard=a.io/Bs", "guard must be \"group/resource\""},
      {"groups=a,resources=b,label=x,guard=a.io/bs/status", "guard must be \"group/resource\""},
      {"groups=a,resources=b,names=a/b", "names: \"a/b\""},
      {"groups=a,resources=b,names=!", "names has an empty pattern"},
      {"groups=a,resources=b,names=x,verbs=delete", "verbs does not include create"},
      {"groups=a,resources=b,neverLabels=\"a b\"", "neverLabels: \"a b\""},
      {"groups=a,resources=b,labels=\"a b\"", "labels: \"a b\""},
      {"groups=a,resources=b,fields=a..b", "fields must be paths such as spec.replicas"},
      {"groups=a,resources=b,fields=a[0].b", "got \"a[0].b\""},
      {"groups=a,resources=b,fields=a[*]", "got \"a[*]\""},
      {"groups=a,resources=b,fields=[*].a", "got \"[*].a\""},
      {"groups=a,resources=b,fields=\"\"", "got \"\""},
      {"groups=a,resources=b,fields=a.b;a", "\"a\" includes \"a.b\""},
      {"groups=a,resources=b,fields=a;a[*].b", "\"a\" includes \"a[*].b\""},
      {"groups=a,resources=b,fields=a,verbs=create", "verbs does not include update"},
      {"groups=a,resources=b,finalizers=a.io/x", "a fence needs at least one of owner"},
      {"groups=a,resources=b,names=$(NAME)", "the only supported variable is $(BASE_NAME)"},
      {"groups=a,resources=b,roleRefs=x", "apply only to rolebindings and clusterrolebindings"},
      {"groups=a,resources=rolebindings,neverSubject=self", "apply only to rolebindings"},
      {bindings + "neverSubject=others", "self, manager or anonymous, got \"others\""},
      {bindings + "roleRefs=Role/a/b", "roleRefs: \"Role/a/b\""},
      {bindings + "neverSubject=self,id=A", "lower-case"},
      {bindings + "subject=self", "unknown argument \"subject\""},
  };
  for (const auto& [text, want] : cases) {
    const auto fence = ReadFence(text);
    ASSERT_FALSE(fence.ok()) << text;
    EXPECT_EQ(fence.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(fence.status().message()), HasSubstr(want)) << text;
  }
}

}  // namespace
}  // namespace mandate::rbacgen
