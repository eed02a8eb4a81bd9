#include "webhooks/scope/large_checks.h"

#include <gtest/gtest.h>

namespace mandate::scope {
namespace {

TEST(LargeChecks, AreBoundedByUserAndInAll) {
  const auto checks = std::make_shared<LargeChecks>(2, 3);
  auto first = checks->Take("ann");
  const auto second = checks->Take("ann");
  EXPECT_NE(first, nullptr);
  EXPECT_NE(second, nullptr);
  EXPECT_EQ(checks->Take("ann"), nullptr);
  auto third = checks->Take("bob");
  EXPECT_NE(third, nullptr);
  EXPECT_EQ(checks->Take("eve"), nullptr);
  third.reset();
  EXPECT_EQ(checks->Take("ann"), nullptr);
  first.reset();
  EXPECT_NE(checks->Take("ann"), nullptr);
}

}  // namespace
}  // namespace mandate::scope
