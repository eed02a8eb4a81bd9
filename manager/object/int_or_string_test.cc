#include "manager/object/int_or_string.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(IntOrStringTest, IsANumberOrAString) {
  EXPECT_TRUE(IsInt(IntOrStringOf(8080)));
  EXPECT_EQ(ToString(IntOrStringOf(8080)), "8080");
  EXPECT_FALSE(IsInt(IntOrStringOf("http")));
  EXPECT_EQ(ToString(IntOrStringOf("http")), "http");
  EXPECT_TRUE(IsInt({})) << "an empty message is 0";
  EXPECT_EQ(ToString({}), "0");
}

TEST(IntOrStringTest, ComparesValuesAndNotEncodings) {
  EXPECT_TRUE(IsSame(IntOrStringOf(0), {}));
  EXPECT_TRUE(IsSame(IntOrStringOf("a"), IntOrStringOf("a")));
  EXPECT_FALSE(IsSame(IntOrStringOf(1), IntOrStringOf(2)));
  EXPECT_FALSE(IsSame(IntOrStringOf(1), IntOrStringOf("1")));
  IntOrString number = IntOrStringOf(1);
  number.set_strval("ignored");
  EXPECT_TRUE(IsSame(number, IntOrStringOf(1)));
}

// As GetScaledValueFromIntOrPercent of k8s.io/apimachinery.
TEST(IntOrStringTest, ScalesPercentages) {
  const struct {
    IntOrString value;
    int total;
    bool round_up;
    int want;
  } rows[] = {
      {IntOrStringOf(3), 10, false, 3},
      {IntOrStringOf("25%"), 10, false, 2},
      {IntOrStringOf("25%"), 10, true, 3},
      {IntOrStringOf("30%"), 10, true, 3},
      {IntOrStringOf("0%"), 10, true, 0},
      {IntOrStringOf("100%"), 7, false, 7},
      {IntOrStringOf("200%"), 7, false, 14},
      {IntOrStringOf("50%"), 2'000'000'000, false, 1'000'000'000},
  };
  for (const auto& row : rows) {
    const auto scaled = ScaledValue(row.value, row.total, row.round_up);
    ASSERT_TRUE(scaled.ok()) << ToString(row.value);
    EXPECT_EQ(*scaled, row.want) << ToString(row.value) << " of " << row.total;
  }
  for (const char* invalid : {"", "%", "25", "a%", "2.5%"}) {
    EXPECT_EQ(ScaledValue(IntOrStringOf(invalid), 10, false).status().code(),
              absl::StatusCode::kInvalidArgument)
        << invalid;
  }
}

}  // namespace
}  // namespace mandate
