#include "manager/client/object_patch.h"

#include <gtest/gtest.h>

#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

rbacv1::Role Read() {
  rbacv1::Role role;
  role.mutable_metadata()->set_name("a");
  role.mutable_metadata()->set_resourceversion("7");
  return role;
}

TEST(MergePatch, OfAnObjectIsConditionalOnItsVersion) {
  EXPECT_EQ(MergePatch::IfUnchanged(Read(), R"({"rules":[]})")->json(),
            R"({"metadata":{"resourceVersion":"7"},"rules":[]})");
  EXPECT_EQ(MergePatch::IfUnchanged(Read(), R"({"metadata":{"labels":{"a":null}}})")->json(),
            R"({"metadata":{"labels":{"a":null},"resourceVersion":"7"}})");
  EXPECT_EQ(MergePatch::Unconditional("{}").json(), "{}");
}

TEST(MergePatch, NeedsAResourceVersion) {
  EXPECT_EQ(MergePatch::IfUnchanged(rbacv1::Role(), "{}").status().message(),
            "the Role to patch has no resourceVersion: read it from the server, or use "
            "Unconditional()");
  for (const char* json : {"[]", R"({"metadata":null})", "{"}) {
    EXPECT_EQ(MergePatch::IfUnchanged(Read(), json).status().code(),
              absl::StatusCode::kInvalidArgument)
        << json;
  }
}

TEST(JsonPatch, OfAnObjectIsConditionalOnItsVersion) {
  EXPECT_EQ(JsonPatch::IfUnchanged(Read(), R"([{"op":"remove","path":"/rules"}])")->json(),
            R"([{"op":"remove","path":"/rules"},)"
            R"({"op":"replace","path":"/metadata/resourceVersion","value":"7"}])");
  EXPECT_FALSE(JsonPatch::IfUnchanged(rbacv1::Role(), "[]").ok());
  EXPECT_FALSE(JsonPatch::IfUnchanged(Read(), "{}").ok());
  EXPECT_EQ(JsonPatch::Unconditional("[]").json(), "[]");
}

}  // namespace
}  // namespace mandate
