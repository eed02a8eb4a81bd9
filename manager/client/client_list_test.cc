// Lists of a typed client.
#include <gmock/gmock.h>

#include "manager/client/testing/typed_client_fixture.h"
#include "manager/object/api_error.h"

namespace mandate {
namespace {

using rbacv1::RoleBinding;

FakeReply Page(std::vector<std::string> names, std::string next, std::string version = "9") {
  rbacv1::RoleBindingList list;
  list.mutable_metadata()->set_resourceversion(version);
  list.mutable_metadata()->set_continue_(next);
  for (std::string& name : names) *list.add_items() = Binding(std::move(name));
  KindInfo kind = KindOf<RoleBinding>::value;
  kind.kind = "RoleBindingList";
  return Protobuf(list, kind);
}

std::vector<std::string> Names(const absl::StatusOr<ObjectList<RoleBinding>>& list) {
  std::vector<std::string> names;
  if (!list.ok()) return {std::string(list.status().message())};
  for (const RoleBinding& item : list->items) names.push_back(item.metadata().name());
  return names;
}

using ClientListTest = ClientTest;

TEST_F(ClientListTest, ListsPageByPage) {
  const std::string all =
      "/apis/rbac.authorization.k8s.io/v1/rolebindings?labelSelector=a%3Db&limit=500";
  fake.Expect("GET", StrCat(all, "&continue=p2"), Page({"b", "c"}, "p3"));
  fake.Expect("GET", StrCat(all, "&continue=p3"), Page({"d"}, "", "10"));
  fake.Expect("GET", all, Page({"a"}, "p2"));
  const auto list = typed.List<RoleBinding>({}, {.label_selector = "a=b"});
  EXPECT_THAT(Names(list), testing::ElementsAre("a", "b", "c", "d"));
  EXPECT_EQ(list->resource_version, "10");
}

TEST_F(ClientListTest, ListsOfANamespaceWithAFieldSelector) {
  server = [&](const HttpRequest&) { return Page({}, ""); };
  ASSERT_TRUE(typed.List<RoleBinding>({}, {.ns = "foo", .field_selector = "metadata.name=x"}).ok());
  EXPECT_EQ(Last().target, StrCat(kBindings, "?fieldSelector=metadata.name%3Dx&limit=500"));
}

TEST_F(ClientListTest, AListWhosePagesExpireBeginsAgainWhole) {
  server = [&](const HttpRequest& request) {
    if (request.target.ends_with("continue=p2")) {
      return FakeReply::Json(410, R"({"kind":"Status","reason":"Expired","code":410})");
    }
    return request.target.ends_with("limit=500") ? Page({"a"}, "p2") : Page({"x", "y"}, "");
  };
  EXPECT_THAT(Names(typed.List<RoleBinding>({})), testing::ElementsAre("x", "y"));
  server = [&](const HttpRequest&) {
    return FakeReply::Json(410, R"({"kind":"Status","reason":"Expired","code":410})");
  };
  fake.ForgetRequests();
  EXPECT_TRUE(IsGone(typed.List<RoleBinding>({}).status())) << "a first page has nothing to expire";
  EXPECT_EQ(Sent(), 1u);
}

TEST_F(ClientListTest, AListThatBeginsAgainIsBoundedAnew) {
  int page = 0;
  server = [&](const HttpRequest& request) {
    if (!request.target.ends_with("limit=500") && page > 0) {
      page = -1;
      return FakeReply::Json(410, R"({"kind":"Status","reason":"Expired","code":410})");
    }
    return page++ == 0 ? Page({"a", "b", "c"}, "p2") : Page({"x", "y", "z"}, "");
  };
  EXPECT_THAT(Names(typed.List<RoleBinding>({}, {.max_items = 3})),
              testing::ElementsAre("x", "y", "z"));
}

TEST_F(ClientListTest, ListsAreBounded) {
  int page = 0;
  server = [&](const HttpRequest&) { return Page({"a", "b"}, StrCat("p", ++page)); };
  const auto list = typed.List<RoleBinding>({}, {.max_items = 5});
  EXPECT_EQ(list.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(Sent(), 3u);
}

}  // namespace
}  // namespace mandate
