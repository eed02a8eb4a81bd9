#include "manager/object/duration.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace mandate {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

// The texts that Go's time.Duration prints and parses.
TEST(DurationTest, RoundTrips) {
  const struct {
    int64_t nanoseconds;
    const char* text;
  } kCases[] = {
      {0, "0s"},
      {1, "1ns"},
      {1100, "1.1µs"},
      {2200000, "2.2ms"},
      {3300000000, "3.3s"},
      {245000000000, "4m5s"},
      {245001000000, "4m5.001s"},
      {18367001000000, "5h6m7.001s"},
      {480000000001, "8m0.000000001s"},
      {3600000000000, "1h0m0s"},
      {-90000000000, "-1m30s"},
      {kMax, "2562047h47m16.854775807s"},
      {kMin, "-2562047h47m16.854775808s"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(FormatGoDuration(c.nanoseconds), c.text);
    const auto parsed = ParseGoDuration(c.text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, c.nanoseconds) << c.text;
  }
}

TEST(DurationTest, ParsesWhatGoParses) {
  const struct {
    const char* text;
    int64_t nanoseconds;
  } kCases[] = {
      {"0", 0},
      {"+5s", 5000000000},
      {"-.5s", -500000000},
      {"1.s", 1000000000},
      {"5us", 5000},
      {"5\xCE\xBCs", 5000},
      {"1h1h", 7200000000000},
      {"0.3333333333333333333h", 1200000000000 - 1},
      {"0.904833333333333333333333333333336h", 3257400000000},
      {"9007199254.740993ms", 9007199254740993},
      {"9223372036854775807ns", kMax},
      {"-9223372036854775808ns", kMin},
  };
  for (const auto& c : kCases) {
    const auto parsed = ParseGoDuration(c.text);
    ASSERT_TRUE(parsed.ok()) << parsed.status();
    EXPECT_EQ(*parsed, c.nanoseconds) << c.text;
  }
}

TEST(DurationTest, Refuses) {
  const std::vector<std::string> texts = {"",
                                          "3",
                                          "-",
                                          "+",
                                          "s",
                                          ".",
                                          "-.",
                                          ".s",
                                          "1d",
                                          "1h 2m",
                                          "1e3s",
                                          "1 s",
                                          "--1s",
                                          "5S",
                                          "9223372036854775808ns",
                                          "-9223372036854775809ns",
                                          "2562047h47m16.854775808s",
                                          std::string(200, '9') + "h"};
  for (const std::string& text : texts) {
    EXPECT_EQ(ParseGoDuration(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

}  // namespace
}  // namespace mandate
