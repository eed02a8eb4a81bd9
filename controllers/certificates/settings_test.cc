#include "controllers/certificates/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace mandate::certificates {
namespace {

using testing::ElementsAre;

TEST(NameConfigurations, AreThoseOfTheChart) {
  static constexpr rbac::DeclaredWebhook kBoth[] = {
      {"/a", false, "a"}, {"/b", true, "b"}, {"/c", true, "c"}};
  static constexpr rbac::DeclaredWebhook kOne[] = {{"/d", false, "d"}};
  static constexpr rbac::Mandate kFirst{"first", {}, kBoth}, kSecond{"second", {}, kOne},
      kNone{"none", {}};
  CertificateOptions options;
  NameConfigurations("shop", {{&kFirst}, {&kSecond}, {&kNone}}, options);
  using Configuration = PublishedConfiguration;
  EXPECT_THAT(options.validating, ElementsAre(Configuration{"shop-first-validating", {"a"}},
                                              Configuration{"shop-second-validating", {"d"}}));
  EXPECT_THAT(options.mutating, ElementsAre(Configuration{"shop-first-mutating", {"b", "c"}}));
  EXPECT_EQ(SecretName("shop"), "shop-webhook-certificate");
}

}  // namespace
}  // namespace mandate::certificates
