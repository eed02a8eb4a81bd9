#include "rbacgen/audit/recent_set.h"

#include <string>

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

TEST(RecentSet, KeepsTheLastInsertedTexts) {
  RecentSet recent(2);
  EXPECT_TRUE(recent.Insert("a"));
  EXPECT_TRUE(recent.Insert("b"));
  EXPECT_FALSE(recent.Insert("a"));
  EXPECT_TRUE(recent.Insert("c"));  // forgets a
  EXPECT_FALSE(recent.Insert("b"));
  EXPECT_TRUE(recent.Insert("a"));  // forgets b
  EXPECT_FALSE(recent.Insert("c"));
  EXPECT_TRUE(recent.Insert("b"));
}

}  // namespace
}  // namespace mandate::rbacgen
