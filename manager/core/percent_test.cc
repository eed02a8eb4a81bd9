#include "manager/core/percent.h"

#include "gtest/gtest.h"

namespace mandate {
namespace {

TEST(PercentTest, Decodes) {
  EXPECT_EQ(PercentDecode("a%2Fb%2fc", false), "a/b/c");
  EXPECT_EQ(PercentDecode("a+b", false), "a+b");
  EXPECT_EQ(PercentDecode("a+b%2B", true), "a b+");
  EXPECT_EQ(PercentDecode("%25%00", false), std::string("%\0", 2));
  for (const char* bad : {"%", "%2", "a%", "%zz", "%2x", "%-1", "%+1"}) {
    EXPECT_EQ(PercentDecode(bad, false), std::nullopt) << bad;
  }
}

}  // namespace
}  // namespace mandate
