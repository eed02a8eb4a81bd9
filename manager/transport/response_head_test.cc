#include "manager/transport/response_head.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;

// 1994-11-15 12:45:26 UTC.
const absl::Time kNow = absl::FromUnixSeconds(784903526);

TEST(ResponseHead, ReadsWhatCallersNeed) {
  ResponseHeadParser parser(4096, kNow);
  for (const char* line :
       {"HTTP/2 429 \r\n", "Content-Type: application/json\r\n", "retry-after:  7 \r\n",
        "Warning: 299 - \"use v1, not \\\"v1beta1\\\"\"\r\n", "warning: 199 - \"ignored\"\r\n",
        "WARNING: 299 kube \"second\"\r\n", "audit-id: x\r\n"}) {
    EXPECT_EQ(parser.AddLine(line), ResponseHeadParser::Result::kMore) << line;
  }
  EXPECT_EQ(parser.AddLine("\r\n"), ResponseHeadParser::Result::kDone);
  EXPECT_TRUE(parser.done());
  EXPECT_EQ(parser.head().code, 429);
  EXPECT_EQ(parser.head().content_type, "application/json");
  EXPECT_EQ(parser.head().retry_after, absl::Seconds(7));
  EXPECT_THAT(parser.head().warnings, ElementsAre("use v1, not \"v1beta1\"", "second"));
}

TEST(ResponseHead, SkipsInformationalHeads) {
  ResponseHeadParser parser(4096, kNow);
  for (const char* line : {"HTTP/1.1 103 Early Hints\r\n", "Content-Type: text/x\r\n", "\r\n",
                           "HTTP/1.1 200 OK\r\n"}) {
    EXPECT_EQ(parser.AddLine(line), ResponseHeadParser::Result::kMore) << line;
  }
  EXPECT_EQ(parser.AddLine("\r\n"), ResponseHeadParser::Result::kDone);
  EXPECT_EQ(parser.head().code, 200);
  EXPECT_EQ(parser.head().content_type, "");
}

TEST(ResponseHead, IgnoresTrailers) {
  ResponseHeadParser parser(4096, kNow);
  parser.AddLine("HTTP/2 200\r\n");
  parser.AddLine("\r\n");
  EXPECT_EQ(parser.AddLine("retry-after: 5\r\n"), ResponseHeadParser::Result::kDone);
  EXPECT_FALSE(parser.head().retry_after.has_value());
}

TEST(ResponseHead, HasABound) {
  ResponseHeadParser parser(64, kNow);
  const std::string status = "HTTP/2 200\r\n";
  EXPECT_EQ(parser.AddLine(status), ResponseHeadParser::Result::kMore);
  EXPECT_EQ(parser.AddLine(std::string(64 - status.size(), 'x')),
            ResponseHeadParser::Result::kMore);
  EXPECT_EQ(parser.AddLine("x"), ResponseHeadParser::Result::kTooLarge);
}

TEST(RetryAfter, Table) {
  const std::vector<std::pair<const char*, std::optional<absl::Duration>>> rows = {
      {"0", absl::ZeroDuration()},
      {"120", absl::Seconds(120)},
      {"4000000000", absl::Hours(24)},
      {"-1", std::nullopt},
      {"1.5", std::nullopt},
      {"", std::nullopt},
      {"soon", std::nullopt},
      {"Tue, 15 Nov 1994 12:45:56 GMT", absl::Seconds(30)},
      {"Tue, 15 Nov 1994 12:00:00 GMT", absl::ZeroDuration()},
      {"Tue, 15 Nov 2094 12:00:00 GMT", absl::Hours(24)},
  };
  for (const auto& [text, expected] : rows) {
    EXPECT_EQ(ParseRetryAfter(text, kNow), expected) << text;
  }
}

TEST(Warning, Table) {
  const std::vector<std::pair<const char*, std::optional<std::string>>> rows = {
      {"299 - \"text\"", "text"},
      {"299 - \"\"", ""},
      {"299 agent \"a \\\\ b\" \"Tue, 15 Nov 1994 12:45:56 GMT\"", "a \\ b"},
      {"199 - \"text\"", std::nullopt},
      {"299 - text", std::nullopt},
      {"299 - \"open", std::nullopt},
      {"", std::nullopt},
  };
  for (const auto& [text, expected] : rows) EXPECT_EQ(ParseWarning(text), expected) << text;
}

}  // namespace
}  // namespace mandate
