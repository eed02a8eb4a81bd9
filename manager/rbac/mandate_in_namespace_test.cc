#include "manager/rbac/mandate_in_namespace.h"

#include <gtest/gtest.h>

namespace mandate::rbac {
namespace {

constexpr std::string_view kGet[] = {"get"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kSecrets[] = {"secrets"};
constexpr RuleView kRule = {.verbs = kGet, .api_groups = kCore, .resources = kSecrets};
constexpr MandateRule kRules[] = {{.rule = kRule, .ns = kManagerNamespace},
                                  {.rule = kRule, .ns = "kube-system", .external = true}};
constexpr DeclaredWebhook kWebhooks[] = {{"/validate", false}};
constexpr Mandate kMandate{"some", kRules, kWebhooks};

TEST(PlacedMandateTest, NamesTheManagersNamespace) {
  const MandateInNamespace placed(kMandate, "mandate-system");
  EXPECT_EQ(placed.mandate().component, "some");
  ASSERT_EQ(placed.mandate().rules.size(), 2);
  EXPECT_EQ(placed.mandate().rules[0].ns, "mandate-system");
  EXPECT_EQ(placed.mandate().rules[1].ns, "kube-system");
  EXPECT_TRUE(placed.mandate().rules[1].external);
  EXPECT_EQ(placed.mandate().webhooks.size(), 1);

  Attributes read;
  read.verb = "get";
  read.resource = "secrets";
  read.name = "x";
  read.ns = "mandate-system";
  EXPECT_TRUE(PermitsRequest(placed.mandate(), read));
  EXPECT_FALSE(PermitsRequest(kMandate, read));
  read.ns = "default";
  EXPECT_FALSE(PermitsRequest(placed.mandate(), read));
}

}  // namespace
}  // namespace mandate::rbac
