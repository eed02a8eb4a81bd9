#include "manager/object/resource_version.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(ResourceVersionTest, ComparesNumbersOnly) {
  EXPECT_EQ(ParseResourceVersion("0"), 0u);
  EXPECT_EQ(ParseResourceVersion("18446744073709551615"), 18446744073709551615u);
  for (const char* text : {"", "01", "-1", "1a", "a", " 1", "18446744073709551616"}) {
    EXPECT_EQ(ParseResourceVersion(text), std::nullopt) << text;
  }
  EXPECT_TRUE(IsOlder("9", "10"));
  EXPECT_FALSE(IsOlder("10", "9"));
  EXPECT_FALSE(IsOlder("10", "10"));
  EXPECT_FALSE(IsOlder("x", "10"));
  EXPECT_FALSE(IsOlder("9", ""));
}

}  // namespace
}  // namespace mandate
