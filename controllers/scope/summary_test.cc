#include "controllers/scope/summary.h"

#include <gtest/gtest.h>

namespace mandate::scope {
namespace {

TEST(Summarise, ShowsTenTexts) {
  EXPECT_EQ(Summarise({}), "");
  EXPECT_EQ(Summarise({"a", "b"}), "a; b");
  EXPECT_EQ(Summarise(std::vector<std::string>(10, "a")), "a; a; a; a; a; a; a; a; a; a");
  EXPECT_EQ(Summarise(std::vector<std::string>(13, "a")),
            "a; a; a; a; a; a; a; a; a; a; and 3 more");
}

}  // namespace
}  // namespace mandate::scope
