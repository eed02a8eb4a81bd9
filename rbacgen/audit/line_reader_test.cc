#include "rbacgen/audit/line_reader.h"

#include <fstream>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

using testing::ElementsAre;

struct Read {
  std::vector<std::string> lines;  // an unfinished one ends in "~"
  int too_long = 0;
  absl::Status status;
};

Read ReadText(const std::string& text, size_t max_line) {
  const std::string path = testing::TempDir() + "/log";
  std::ofstream(path, std::ios::binary) << text;
  Read read;
  read.status = ReadLines(
      path, max_line,
      {.line = [&](std::string_view line,
                   bool ended) { read.lines.push_back(std::string(line) + (ended ? "" : "~")); },
       .too_long = [&] { ++read.too_long; }});
  return read;
}

TEST(ReadLines, SplitsAtLineFeeds) {
  const Read read = ReadText("a\n\nb\nc", 10);
  EXPECT_TRUE(read.status.ok());
  EXPECT_THAT(read.lines, ElementsAre("a", "", "b", "c~"));
  EXPECT_EQ(read.too_long, 0);
}

TEST(ReadLines, PassesOverLongLinesOfAnyLength) {
  // Longer than the bound, and longer than what is read at once.
  const std::string big(1 << 20, 'x');
  const Read read = ReadText("a\n12345\n123456\nb\n" + big + "\nc\n" + big, 5);
  EXPECT_THAT(read.lines, ElementsAre("a", "12345", "b", "c"));
  EXPECT_EQ(read.too_long, 3);
}

TEST(ReadLines, LinesSpanReads) {
  std::string text;
  std::vector<std::string> want;
  for (int i = 0; i < 1000; ++i) {
    want.emplace_back(997, static_cast<char>('a' + i % 26));
    text += want.back() + "\n";
  }
  EXPECT_EQ(ReadText(text, 1024).lines, want);
}

TEST(ReadLines, SaysWhyItCannot) {
  const absl::Status status = ReadLines(testing::TempDir() + "/none", 10, {});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), testing::HasSubstr("No such file"));
}

}  // namespace
}  // namespace mandate::rbacgen
