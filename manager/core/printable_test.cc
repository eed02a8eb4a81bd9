#include "manager/core/printable.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

TEST(PrintableTest, OnlyWhatMovesOrHidesTextIsEscaped) {
  EXPECT_EQ(Printable("a \"b\" \\ é 日本 😀"), "a \"b\" \\ é 日本 😀");
  EXPECT_EQ(Printable("a\x1b[31mb\nc\r\t\x7f"), "a\\x1b[31mb\\x0ac\\x0d\\x09\\x7f");
  EXPECT_EQ(Printable(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(Printable("\xc2\x80\xc2\x9f\xc2\xa0"), "\\u0080\\u009f\xc2\xa0");
  EXPECT_EQ(Printable("\u200a\u200b\u200f\u2010"), "\u200a\\u200b\\u200f\u2010");
  EXPECT_EQ(Printable("\u2027\u2028\u202e\u202f"), "\u2027\\u2028\\u202e\u202f");
  EXPECT_EQ(Printable("\u205f\u2060\u2064\u2065"), "\u205f\\u2060\\u2064\u2065");
  EXPECT_EQ(Printable("a\u00adb\ufeffc"), "a\\u00adb\\ufeffc");
  EXPECT_EQ(Printable("\u061b\u061c\u061d"), "\u061b\\u061c\u061d");
  EXPECT_EQ(Printable("\u2065\u2066\u2069\u206a"), "\u2065\\u2066\\u2069\u206a");
}

TEST(PrintableTest, BytesThatAreNotUtf8AreEscaped) {
  EXPECT_EQ(Printable("\xc2"), "\\xc2");
  EXPECT_EQ(Printable("\xe2\x80"), "\\xe2\\x80");
  EXPECT_EQ(Printable("a\x9b[2J"), "a\\x9b[2J");            // C1 in a terminal of eight bits
  EXPECT_EQ(Printable("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");  // U+009B, overlong
  EXPECT_EQ(Printable(""), "");
}

TEST(PrintableTest, JsonKeepsItsValues) {
  EXPECT_EQ(PrintableJson("{\n\t\"a\": \"\\u001b é 😀\"}\n"), "{\n\t\"a\": \"\\u001b é 😀\"}\n");
  EXPECT_EQ(PrintableJson("\"\x7f\xc2\x9b\u202e\u061c\""), "\"\\u007f\\u009b\\u202e\\u061c\"");
  EXPECT_EQ(PrintableJson("\"\x9b\""), "\"\\ufffd\"");
}

TEST(PrintableTest, AJsonStringIsQuotedAndEscaped) {
  const auto quoted = [](std::string_view text) {
    std::string out = "k=";
    AppendJsonString(text, out);
    return out;
  };
  EXPECT_EQ(quoted(""), R"(k="")");
  EXPECT_EQ(quoted(std::string_view("a\"\\\b\f\n\r\t\x01\0z", 11)),
            R"(k="a\"\\\b\f\n\r\t\u0001\u0000z")");
  EXPECT_EQ(quoted("\x1b\x7f\xc2\x80\xc2\x9f\u202e é ü 😀"),
            "k=\"\\u001b\\u007f\\u0080\\u009f\\u202e é ü 😀\"");
  EXPECT_EQ(quoted("\ufffd\ufffe\uffff\uf8ff\U0010ffff"),
            "k=\"\ufffd\\ufffe\\uffff\uf8ff\U0010ffff\"");
  EXPECT_EQ(quoted("x\xffy\xc3"), "k=\"x\ufffdy\ufffd\"");
}

}  // namespace
}  // namespace mandate
