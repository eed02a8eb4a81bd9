#include "manager/core/strings.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace mandate {
namespace {

using std::string_literals::operator""s;
using std::string_view_literals::operator""sv;

TEST(StringsTest, ViewsKeepTheirBytes) {
  for (const std::string_view text : {""sv, "abc"sv, "a\0b"sv, "\xff\x80"sv}) {
    EXPECT_EQ(AsAbsl(text).data(), text.data());
    EXPECT_EQ(AsAbsl(text).size(), text.size());
    EXPECT_EQ(AsStd(AsAbsl(text)), text);
    EXPECT_EQ(AsStd(AsAbsl(text)).data(), text.data());
  }
  EXPECT_EQ(AsStd(absl::string_view()).size(), 0u);
}

TEST(StringsTest, StrCatTakesEveryKindOfText) {
  const std::string string = "string";
  const std::string_view view = "a view";
  std::string_view mutable_view = "another";
  const absl::string_view absl_view = "an absl view";
  EXPECT_EQ(StrCat(), "");
  EXPECT_EQ(StrCat(view), "a view");
  EXPECT_EQ(StrCat("literal, ", string, ", ", view, ", ", mutable_view, ", ", absl_view),
            "literal, string, a view, another, an absl view");
  EXPECT_EQ(StrCat("n", 1, "-", size_t{2}, " ", int64_t{-3}), "n1-2 -3");
  EXPECT_EQ(StrCat(view.substr(2), std::string("!")), "view!");
  // There are more arguments than in absl's overloads for few arguments.
  EXPECT_EQ(StrCat(view, 1, view, 2, view, 3, view), "a view1a view2a view3a view");
}

TEST(StringsTest, NulsAreText) {
  EXPECT_EQ(StrCat("a\0b"sv, "c"), "a\0bc"s);
  EXPECT_EQ(StrCat(""sv, std::string_view(), "x"), "x");
}

TEST(StringsTest, StrAppendAddsToWhatIsThere) {
  std::string out = "begin";
  StrAppend(&out);
  EXPECT_EQ(out, "begin");
  StrAppend(&out, " "sv, 1, std::string(" end"), "\0"sv);
  EXPECT_EQ(out, "begin 1 end\0"s);
}

}  // namespace
}  // namespace mandate
