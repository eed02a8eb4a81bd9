#include "manager/object/json_cursor.h"

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "manager/object/json_text.h"

namespace mandate {
namespace {

using testing::HasSubstr;

absl::Status Check(std::string_view text, const JsonLimits& limits = {}) {
  JsonCursor json(text, limits);
  json.SkipValue();
  return json.Finish();
}

TEST(JsonCursorTest, AcceptsWhatRfc8259Allows) {
  for (const char* text :
       {"{}", "[]", "null", "true", "false", "0", "-0", "1.5", "-1.5e+10", "1E9", "\"\"",
        " \t\r\n{ \"a\" : [ 1 , 2 ] } \n", R"("\"\\\/\b\f\n\r\tA")", "\"\x7F\"", R"({"a":{"a":1}})",
        "\"gr\xC3\xBC\xC3\x9F\"", "\"\xF0\x9F\x98\x80\""}) {
    EXPECT_TRUE(Check(text).ok()) << text << ": " << Check(text);
  }
}

TEST(JsonCursorTest, RefusesEverythingElse) {
  for (const char* text : {"",
                           " ",
                           "{",
                           "}",
                           "[",
                           "[1,]",
                           "[,1]",
                           "[1 2]",
                           "{\"a\"}",
                           "{\"a\":}",
                           "{\"a\":1,}",
                           "{,}",
                           "{a:1}",
                           "{'a':1}",
                           "{1:1}",
                           "nul",
                           "True",
                           "tru",
                           "01",
                           "-",
                           "+1",
                           ".5",
                           "1.",
                           "1e",
                           "1e+",
                           "0x10",
                           "NaN",
                           "Infinity",
                           "\"",
                           "\"a",
                           "\"\\x\"",
                           "\"\\u12\"",
                           "\"\\u12G4\"",
                           "\"a\nb\"",
                           "\"\x01\"",
                           "{} {}",
                           "1 2",
                           "// comment\n1",
                           "/* c */ 1",
                           "[1]]",
                           "\"\xFF\"",
                           "\"\xC0\xAF\"",
                           "\"\xED\xA0\x80\"",
                           "\"\xF4\x90\x80\x80\"",
                           "\"\xE2\x82\""}) {
    EXPECT_EQ(Check(text).code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(JsonCursorTest, SaysWhere) {
  const absl::Status status = Check("{\n  \"a\": 1,\n  \"b\": x\n}");
  EXPECT_EQ(AsStd(status.message()),
            "invalid JSON at line 3, column 8: expected a value, found 'x'");
  EXPECT_THAT(std::string(Check("[1").message()), HasSubstr("found the end of the text"));
}

TEST(JsonCursorTest, WalksMembersAndElements) {
  JsonCursor json(R"({"a":"x","b":[1,-2.5e1],"c":{"d":true},"e":null,"f":{}})");
  std::string seen;
  std::string_view key;
  std::string_view text;
  bool flag = false;
  for (json.BeginObject(); json.NextMember(&key);) {
    StrAppend(&seen, key, "=");
    switch (json.Peek()) {
      case JsonCursor::Token::kString:
        json.ReadString(&text);
        StrAppend(&seen, text);
        break;
      case JsonCursor::Token::kArray:
        for (json.BeginArray(); json.NextElement();) {
          json.ReadNumber(&text);
          StrAppend(&seen, text, "|");
        }
        break;
      case JsonCursor::Token::kObject:
        for (json.BeginObject(); json.NextMember(&key);) {
          json.ReadBool(&flag);
          StrAppend(&seen, key, ":", flag ? "yes" : "no");
        }
        break;
      default:
        json.ReadNull();
        StrAppend(&seen, "null");
    }
    seen += ' ';
  }
  EXPECT_TRUE(json.Finish().ok()) << json.status();
  EXPECT_EQ(seen, "a=x b=1|-2.5e1| c=d:yes e=null f= ");
}

TEST(JsonCursorTest, UnescapesAndKeepsEveryView) {
  JsonCursor json(R"(["A\n\"","😀","\ud83dx","plain","\u00fc€"])");
  std::string_view views[5];
  json.BeginArray();
  for (std::string_view& view : views) {
    ASSERT_TRUE(json.NextElement());
    ASSERT_TRUE(json.ReadString(&view));
  }
  EXPECT_EQ(views[0], "A\n\"");
  EXPECT_EQ(views[1], "\xF0\x9F\x98\x80");
  EXPECT_EQ(views[2], "\xEF\xBF\xBDx");  // half a pair
  EXPECT_EQ(views[3], "plain");
  EXPECT_EQ(views[4], "\xC3\xBC\xE2\x82\xAC");
}

TEST(JsonCursorTest, FindsWhatIsSpecialAtEveryPlaceOfAString) {
  for (size_t length = 1; length < 40; ++length) {
    for (size_t at = 0; at < length; ++at) {
      for (int byte = 1; byte < 256; ++byte) {
        std::string content(length, 'x');
        content[at] = static_cast<char>(byte);
        const bool plain = byte >= 0x20 && byte < 0x80 && byte != '"' && byte != '\\';
        JsonCursor json(content = "\"" + content + "\"");
        std::string_view value;
        const bool whole = json.ReadString(&value) && json.Consumed() == content.size();
        ASSERT_EQ(whole && value == content.substr(1, length), plain)
            << "byte " << byte << " at " << at << " of " << length;
      }
    }
  }
}

TEST(JsonCursorTest, KeepsToItsLimits) {
  const std::string deep = std::string(10'001, '[') + std::string(10'001, ']');
  EXPECT_THAT(std::string(Check(deep).message()), HasSubstr("deeper than the limit of 10000"));
  EXPECT_TRUE(Check(deep, {.max_depth = 10'001}).ok());
  EXPECT_TRUE(Check(deep.substr(1, 20'000)).ok());
  EXPECT_THAT(std::string(Check("[1,2]", {.max_bytes = 4}).message()), HasSubstr("limit of 4"));
}

TEST(JsonCursorTest, TheFirstErrorStays) {
  JsonCursor json("[1,}");
  std::string_view text;
  json.BeginArray();
  EXPECT_TRUE(json.NextElement());
  EXPECT_TRUE(json.ReadNumber(&text));
  EXPECT_TRUE(json.NextElement());
  EXPECT_FALSE(json.ReadNumber(&text));
  const absl::Status first = json.status();
  EXPECT_FALSE(json.NextElement());
  EXPECT_FALSE(json.BeginObject());
  EXPECT_FALSE(json.SkipValue());
  EXPECT_EQ(json.Peek(), JsonCursor::Token::kInvalid);
  EXPECT_EQ(json.Finish(), first);
}

TEST(JsonCursorTest, SkipsOnlyWhatIsWhole) {
  for (const char* text : {R"({"a" 1})", R"({"a":})", R"({"a)", R"({"a":[1,]})", "{a:1}", "[1",
                           "tru", "[[1}]", "[[]", R"({"a":{"b":[]]}})", R"([{"a":1},{,}])"}) {
    JsonCursor json(text);
    std::string_view source = "untouched";
    EXPECT_FALSE(json.SkipValue(&source)) << text;
    EXPECT_EQ(source, "untouched") << text;
    EXPECT_FALSE(json.status().ok()) << text;
  }
}

TEST(JsonTextTest, WritesTheShortestDouble) {
  const auto text = [](double value) {
    std::string out;
    AppendJsonDouble(value, out);
    return out;
  };
  EXPECT_EQ(text(0.1), "0.1");
  EXPECT_EQ(text(1), "1.0");
  EXPECT_EQ(text(-2.5e300), "-2.5e+300");
  EXPECT_EQ(text(1e300 * 1e300), "null");
}

TEST(JsonTextTest, CompactsOnlyBetweenTokens) {
  std::string out = "x";
  ASSERT_TRUE(AppendCompactJson(" { \"a b\\\" c\" : [ 1 , 2.50 ] }\n", out).ok());
  EXPECT_EQ(out, R"(x{"a b\" c":[1,2.50]})");
  EXPECT_FALSE(AppendCompactJson("{} x", out).ok());
  EXPECT_EQ(out, R"(x{"a b\" c":[1,2.50]})");
}

}  // namespace
}  // namespace mandate
