#include "manager/object/quantity.h"

#include <string>

#include "gtest/gtest.h"

namespace mandate {
namespace {

// Each value in two spellings.
TEST(QuantityTest, Parses) {
  const struct {
    const char* text;
    const char* canonical;
  } kCases[] = {
      {"0", "0"},
      {"-0", "0"},
      {"00.000", "0"},
      {"0Ki", "0"},
      {"1", "1"},
      {"+1", "1"},
      {"1.5", "1500m"},
      {".5", "500m"},
      {"1.", "1"},
      {"1000", "1k"},
      {"1500", "1500"},
      {"100m", "100m"},
      {"1000m", "1"},
      {"12345m", "12345m"},
      {"0.1u", "100n"},
      {"1000000", "1M"},
      {"123000000000000000000", "123E"},
      {"1000000E", "1000000E"},
      {"1e3", "1e3"},
      {"1E3", "1e3"},
      {"1E+3", "1e3"},
      {"1500e-3", "1500e-3"},
      {"12e5", "1200e3"},
      {"1e0", "1"},
      {"1e24", "1e24"},
      {"1E", "1E"},
      {"1Ki", "1Ki"},
      {"1024", "1024"},
      {"1024Ki", "1Mi"},
      {"1000Ki", "1000Ki"},
      {"1.5Ki", "1536"},
      {"1.1Ki", "1126400m"},
      {"0.5Ki", "512"},
      {"0.001Ki", "1024m"},
      {"-2Gi", "-2Gi"},
      {"1Ei", "1Ei"},
      // Values finer than a billionth are rounded away from zero.
      {"0.1n", "1n"},
      {"-0.1n", "-1n"},
      {"1.0000000001", "1000000001n"},
      {"1e-100", "1e-9"},
      {"1e-999999999", "1e-9"},
      // 2^63-1 is the largest binary quantity.
      {"8Ei", "9223372036854775807"},
      {"-99999999999999999999Ei", "-9223372036854775807"},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(Quantity::Parse(c.text).value(), Quantity::Parse(c.canonical).value()) << c.text;
  }
  EXPECT_EQ(Quantity::Parse("2.5")->nanos(), 2'500'000'000);
  EXPECT_EQ(Quantity::Parse("-1Ki")->nanos(), -1'024'000'000'000);
  EXPECT_EQ(Quantity::Parse("3E")->nanos(), Quantity::Parse("3e18")->nanos());
}

TEST(QuantityTest, RefusesWhatIsNone) {
  for (const char* text :
       {"",         "+",     "-",     ".",   "Ki",  "m",   "1 ",  " 1",
        "1.2.3",    "1mm",   "1K",    "1ki", "1KI", "e3",  "1e",  "1e+",
        "1e 3",     "1e3.5", "1e3Ki", "0x1", "1,5", "--1", "+-1", "1e99999999999",
        "\xC2\xB5", "1i"}) {
    const auto quantity = Quantity::Parse(text);
    EXPECT_EQ(quantity.status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(Quantity::Parse("1e28").status().code(), absl::StatusCode::kOutOfRange);
  // Rounding up adds a digit.
  EXPECT_TRUE(Quantity::Parse("999999999999999999999999999.999999999").ok());
  EXPECT_EQ(Quantity::Parse("999999999999999999999999999.9999999991").status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Quantity::Parse("1e999999999").status().code(), absl::StatusCode::kOutOfRange);
}

TEST(QuantityTest, ComparesByValue) {
  const auto q = [](std::string_view text) { return *Quantity::Parse(text); };
  EXPECT_EQ(q("1"), q("1000m"));
  EXPECT_EQ(q("1Ki"), q("1.024k"));
  EXPECT_EQ(q("0"), Quantity());
  EXPECT_NE(q("1"), q("1000000001n"));
  EXPECT_LT(q("999m"), q("1"));
  EXPECT_LT(q("-1Gi"), q("1n"));
  EXPECT_GT(q("1Gi"), q("1G"));
}

}  // namespace
}  // namespace mandate
