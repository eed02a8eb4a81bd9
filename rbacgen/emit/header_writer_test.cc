#include "rbacgen/emit/header_writer.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::HasSubstr;

// generated_header_test tests that the header compiles and has what the markers declare.

TEST(ConstantName, IsTheComponentInCamelCase) {
  EXPECT_EQ(ConstantName("scope-instance"), "kScopeInstance");
  EXPECT_EQ(ConstantName("a--b-1"), "kAB1");
  EXPECT_EQ(ConstantName("2fa"), "k2fa");
}

TEST(WriteHeader, EqualListsShareOneArray) {
  const rbac::Rule rule = {.verbs = {"get"}, .api_groups = {"g"}, .resources = {"get"}};
  const auto header = WriteHeader({{"c", {{"", false, {rule, rule}, {}}}}});
  ASSERT_TRUE(header.ok());
  EXPECT_THAT(*header, HasSubstr("kCList0[] = {\"get\"}"));
  EXPECT_THAT(*header, HasSubstr("kCList1[] = {\"g\"}"));
  EXPECT_THAT(*header, testing::Not(HasSubstr("kCList2")));
}

TEST(WriteHeader, NamesTheWebhooks) {
  const auto header =
      WriteHeader({{.name = "a", .grants = {}},
                   {.name = "b",
                    .grants = {},
                    .webhooks = {{"/validate-x", false, "v.x"}, {"/mutate-x", true, "m.x"}}}});
  ASSERT_TRUE(header.ok());
  EXPECT_THAT(*header, HasSubstr("kBWebhooks[] = {\n    {\"/validate-x\", false, \"v.x\"},\n"
                                 "    {\"/mutate-x\", true, \"m.x\"},\n};"));
  EXPECT_THAT(*header, HasSubstr("kA{\"a\", {}};"));
  EXPECT_THAT(*header, HasSubstr("kB{\"b\", {}, mandates_internal::kBWebhooks};"));
}

TEST(WriteHeader, TwoComponentsWithOneConstantAreAnError) {
  const auto header = WriteHeader({{"a-b1", {}}, {"a-b-1", {}}});
  EXPECT_EQ(header.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(header.status().message(), HasSubstr("components a-b1 and a-b-1 would both be kAB1"));
}

}  // namespace
}  // namespace mandate::rbacgen
