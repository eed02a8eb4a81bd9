#include "manager/rbac/label_syntax.h"

#include <string>

#include "gtest/gtest.h"

namespace mandate::rbac {
namespace {

TEST(LabelSyntaxTest, Valid) {
  for (std::string selector :
       {"",
        " ",
        "a",
        "!a",
        "a=b",
        "a==b",
        "a!=b",
        "a=",
        "a=,b",
        "a,b",
        " a = b , c ",
        "a in (b)",
        "a in (b,c)",
        "a in ()",
        "a in (,)",
        "a in (b,)",
        "a in (,b)",
        "a in (b,,c)",
        "a notin (b)",
        "in in (in)",
        "notin",
        "a in (in,notin)",
        "a>1",
        "a < 20",
        "x.y/a=b",
        "x-1.example/a_b.c-d",
        "A1=b",
        "a=in",
        "!in",
        "a=1234567890123456789012345678901234567890123456789012345678901_3"}) {
    EXPECT_TRUE(IsLabelSelector(selector)) << selector;
  }
}

TEST(LabelSyntaxTest, Invalid) {
  for (std::string selector :
       {",",
        "a,",
        ",a",
        "a,,b",
        "=b",
        "a=b=c",
        "a b",
        "a in",
        "a in b",
        "a in (b",
        "a in b)",
        "a in (b c)",
        "a in (=)",
        "!",
        "!!a",
        "!a=b",
        "!a in (b)",
        "a!",
        "a=!b",
        "a>",
        "a>b",
        "a>-1",
        "a>99999999999999999999",
        "a<=1",
        "()",
        "a in ((b))",
        "-a",
        "a-",
        "a=-b",
        "a=b.",
        "x/y/a",
        "/a",
        "x/",
        "X/a=b",
        "x_y/a",
        ".x/a",
        "x..y/a",
        "a@b",
        "a=b@c",
        "a=b/c",
        "ä",
        "a===b",
        "a1234567890123456789012345678901234567890123456789012345678901234",
        "a=12345678901234567890123456789012345678901234567890123456789012_4"}) {
    EXPECT_FALSE(IsLabelSelector(selector)) << selector;
  }
}

}  // namespace
}  // namespace mandate::rbac
