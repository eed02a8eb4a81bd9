#include "manager/cache/index.h"

#include <gtest/gtest.h>

#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

using RoleBinding = ::k8s::io::api::rbac::v1::RoleBinding;
using Values = std::vector<std::string>;

std::shared_ptr<const RawObject> Parse(std::string_view json) {
  auto object = ParseRawObject(json, Encoding::kJson);
  EXPECT_TRUE(object.ok()) << object.status();
  return object.ok() ? *std::move(object) : nullptr;
}

TEST(IndexTest, LabelsAndControllersAreReadFromTheMetadata) {
  const auto object = Parse(
      R"({"metadata":{"name":"x","namespace":"a","labels":{"app":"web","empty":""},)"
      R"("ownerReferences":[{"apiVersion":"v1","kind":"A","name":"a","uid":"u1"},)"
      R"({"apiVersion":"v1","kind":"B","name":"b","uid":"u2","controller":true}]},"spec":[]})");
  EXPECT_EQ(*IndexByLabel("app")(*object), Values{"web"});
  EXPECT_EQ(*IndexByLabel("empty")(*object), Values{""});
  EXPECT_EQ(*IndexByLabel("none")(*object), Values{});
  EXPECT_EQ(*IndexByControllerUid()(*object), Values{"u2"});
  const auto bare = Parse(R"({"metadata":{"name":"x"}})");
  EXPECT_EQ(*IndexByLabel("app")(*bare), Values{});
  EXPECT_EQ(*IndexByControllerUid()(*bare), Values{});
}

TEST(IndexTest, FieldsAreReadFromTheDecodedObject) {
  const IndexFunc role =
      IndexBy<RoleBinding>([](const RoleBinding& b) { return Values{b.roleref().name()}; });
  EXPECT_EQ(*role(*Parse(R"({"metadata":{"name":"x"},"roleRef":{"name":"view"}})")),
            Values{"view"});
  EXPECT_FALSE(role(*Parse(R"({"metadata":{"name":"x"},"roleRef":7})")).ok());
}

}  // namespace
}  // namespace mandate
