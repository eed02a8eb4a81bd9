#include "manager/core/utf8.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <string_view>

namespace mandate {
namespace {

TEST(Utf8LengthTest, IsThatOfTheFirstCharacter) {
  const struct {
    std::string_view text;
    size_t length;
  } rows[] = {
      {"a", 1},
      {"ab", 1},
      {std::string_view("\0", 1), 1},
      {"\x7f", 1},
      {"\xc2\x80", 2},          // U+0080, the first of two bytes
      {"\xdf\xbfx", 2},         // U+07FF, the last
      {"\xe0\xa0\x80", 3},      // U+0800
      {"\xed\x9f\xbf", 3},      // U+D7FF
      {"\xee\x80\x80", 3},      // U+E000
      {"\xef\xbf\xbf", 3},      // U+FFFF
      {"\xf0\x90\x80\x80", 4},  // U+10000
      {"\xf4\x8f\xbf\xbf", 4},  // U+10FFFF, the last of all
  };
  for (const auto& row : rows) EXPECT_EQ(Utf8Length(row.text), row.length) << row.text;
}

TEST(Utf8LengthTest, IsZeroOfWhatIsInvalid) {
  for (const std::string_view text : {
           "\x80",              // a continuation without a beginning
           "\xc2",              // cut
           "\xe2\x82",          // cut
           "\xf0\x90\x80",      // cut
           "\xc2x",             // no continuation
           "\xc1\xbf",          // overlong
           "\xe0\x9f\xbf",      // overlong
           "\xf0\x8f\xbf\xbf",  // overlong
           "\xed\xa0\x80",      // a surrogate
           "\xed\xbf\xbf",      // a surrogate
           "\xf4\x90\x80\x80",  // beyond U+10FFFF
           "\xf5\x80\x80\x80",  // beyond U+10FFFF
           "\xff",
       }) {
    EXPECT_EQ(Utf8Length(text), 0u) << text.size();
  }
}

TEST(AbbreviatedTest, CutsBetweenCharacters) {
  const struct {
    std::string_view text;
    size_t max;
    std::string_view result;
  } rows[] = {
      {"", 0, ""},
      {"abc", 3, "abc"},
      {"abcd", 3, "abc… (4 bytes)"},
      {"a\u00e9b", 3, "a\u00e9… (4 bytes)"},
      {"a\u00e9b", 2, "a… (4 bytes)"},  // in the middle of one
      {"\u20ac\u20ac", 5, "\u20ac… (6 bytes)"},
      {"\u20ac", 2, "… (3 bytes)"},
      {"\x80\x80\x80", 2, "… (3 bytes)"},  // no characters
  };
  for (const auto& row : rows) EXPECT_EQ(Abbreviated(row.text, row.max), row.result) << row.text;
}

}  // namespace
}  // namespace mandate
