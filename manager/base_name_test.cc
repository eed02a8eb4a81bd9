#include "manager/base_name.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

constexpr std::string_view kVerbs[] = {"create", "get", "patch", "update"};
constexpr std::string_view kGroups[] = {"coordination.k8s.io"};
constexpr std::string_view kLeases[] = {"leases"};
constexpr std::string_view kTokens[] = {"serviceaccounts/token"};
constexpr std::string_view kAcme[] = {"acme"};
constexpr std::string_view kComponents[] = {"acme-backup", "acme-restore"};

constexpr rbac::MandateRule kNamed[] = {
    {.rule = {.verbs = kVerbs, .resources = kTokens, .resource_names = kComponents}},
    {.rule = {
         .verbs = kVerbs, .api_groups = kGroups, .resources = kLeases, .resource_names = kAcme}}};
constexpr rbac::MandateRule kAnyLease[] = {
    {.rule = {.verbs = kVerbs, .api_groups = kGroups, .resources = kLeases}}};

TEST(BaseNameTest, IsTheNameOfTheLease) {
  EXPECT_EQ(BaseName({"base", kNamed}), "acme");
  EXPECT_EQ(BaseName({"base", kAnyLease}), "mandate-manager");
  EXPECT_EQ(BaseName({"base", {}}), "mandate-manager");
}

}  // namespace
}  // namespace mandate
