#include "manager/core/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iconv.h>
#include <jsoncpp/json/json.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "manager/core/strings.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using std::string_view_literals::operator""sv;
using Lines = std::vector<std::string>;

const absl::Time kTime = absl::FromUnixMillis(1'795'228'065'007);

// Use it within the same expression, because `fields` is a view.
LogRecord Record(Logger::Fields fields, std::string_view message = "m",
                 LogLevel level = LogLevel::kInfo) {
  return {kTime, level, 0, message, nullptr, fields};
}

// The text that FormatRecord gives the field {"k", value}.
std::string Text(const LogValue& value) {
  const std::string line = FormatRecord(Record({{"k", value}}), LogFormat::kText);
  const std::string before = "2026-11-21T02:27:45.007Z INFO m k=";
  EXPECT_EQ(line.substr(0, before.size()), before);
  return line.substr(before.size());
}
std::string Json(const LogValue& value) {
  const std::string line = FormatRecord(Record({{"k", value}}), LogFormat::kJson);
  const std::string before = R"({"ts":"2026-11-21T02:27:45.007Z","level":"INFO","msg":"m","k":)";
  EXPECT_EQ(line.substr(0, before.size()), before);
  EXPECT_EQ(line.back(), '}');
  return line.substr(before.size(), line.size() - before.size() - 1);
}

bool IsUtf8(const std::string& text) {
  std::string in = text;
  std::string out(4 * in.size() + 4, '\0');
  char* from = in.data();
  char* to = out.data();
  size_t left = in.size(), room = out.size();
  const iconv_t conversion = iconv_open("UTF-32", "UTF-8");
  const bool valid = iconv(conversion, &from, &left, &to, &room) != static_cast<size_t>(-1);
  iconv_close(conversion);
  return valid;
}

TEST(LogTest, Values) {
  const struct {
    LogValue value;
    std::string_view text;
    std::string_view json;
  } rows[] = {
      {"foo", "foo", R"("foo")"},
      {"a/b-c.d:e,f{}[]", "a/b-c.d:e,f{}[]", R"("a/b-c.d:e,f{}[]")"},
      {"", R"("")", R"("")"},
      {"two words", R"("two words")", R"("two words")"},
      {"a=b", R"("a=b")", R"("a=b")"},
      {R"(say "hi")", R"("say \"hi\"")", R"("say \"hi\"")"},
      {R"(a\b)", R"("a\\b")", R"("a\\b")"},
      {"one\ntwo\r\n\tthree", R"("one\ntwo\r\n\tthree")", R"("one\ntwo\r\n\tthree")"},
      {std::string_view("\0\x01\x1b[31m\x1f", 8), R"("\u0000\u0001\u001b[31m\u001f")",
       R"("\u0000\u0001\u001b[31m\u001f")"},
      {"\x7f", R"("\u007f")", R"("\u007f")"},
      {"\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\"\\u0080\\u009b\\u009f\xc2\xa0\"",
       "\"\\u0080\\u009b\\u009f\xc2\xa0\""},
      // Characters that reorder text, break lines or have no width.
      {"\xe2\x80\xae"
       "a\xe2\x80\xa8"
       "b\xe2\x80\x8b",
       R"("\u202ea\u2028b\u200b")", R"("\u202ea\u2028b\u200b")"},
      {"Zürich", "\"Zürich\"", "\"Zürich\""},
      {"\xf0\x9f\x8d\x8a", "\"\xf0\x9f\x8d\x8a\"", "\"\xf0\x9f\x8d\x8a\""},
      {true, "true", "true"},
      {false, "false", "false"},
      {-7, "-7", "-7"},
      {int64_t{9'000'000'000}, "9000000000", "9000000000"},
      {size_t{18'446'744'073'709'551'615u}, "18446744073709551615", "18446744073709551615"},
      {"7", "7", R"("7")"},
      {"true", "true", R"("true")"},
      {absl::Milliseconds(1500), "1.5s", R"("1.5s")"},
      {absl::NotFoundError("no such thing"), R"("no such thing")", R"("no such thing")"},
      {absl::OkStatus(), R"("")", R"("")"},
      {std::string("a string"), R"("a string")", R"("a string")"},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Text(row.value), row.text);
    EXPECT_EQ(Json(row.value), row.json);
  }
}

#define FFFD "\xef\xbf\xbd"

TEST(LogTest, WhatIsNoUtf8IsReplacedByteByByte) {
  const struct {
    std::string_view name;
    std::string_view value;
    std::string_view quoted;
  } rows[] = {
      {"a byte that never occurs", "a\xff!", "\"a" FFFD "!\""},
      {"a continuation alone", "\x80", "\"" FFFD "\""},
      {"cut short", "ab\xc3", "\"ab" FFFD "\""},
      {"cut short by text", "\xe2\x82!", "\"" FFFD FFFD "!\""},
      {"cut short by a quote", "\xc3\"", "\"" FFFD "\\\"\""},
      {"cut short by a new line", "\xf0\x9f\x8d\n", "\"" FFFD FFFD FFFD "\\n\""},
      {"overlong, two bytes", "\xc0\xaf", "\"" FFFD FFFD "\""},
      {"overlong, three bytes", "\xe0\x9f\xbf", "\"" FFFD FFFD FFFD "\""},
      {"the first of three bytes", "\xe0\xa0\x80", "\"\xe0\xa0\x80\""},
      {"overlong, four bytes", "\xf0\x8f\xbf\xbf", "\"" FFFD FFFD FFFD FFFD "\""},
      {"the first of four bytes", "\xf0\x90\x80\x80", "\"\xf0\x90\x80\x80\""},
      {"the last before the surrogates", "\xed\x9f\xbf", "\"\xed\x9f\xbf\""},
      {"a surrogate", "\xed\xa0\x80", "\"" FFFD FFFD FFFD "\""},
      {"the last of all", "\xf4\x8f\xbf\xbf", "\"\xf4\x8f\xbf\xbf\""},
      {"beyond", "\xf4\x90\x80\x80", "\"" FFFD FFFD FFFD FFFD "\""},
      {"five bytes", "\xf8\x88\x80\x80\x80", "\"" FFFD FFFD FFFD FFFD FFFD "\""},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(Json(row.value), row.quoted) << row.name;
    EXPECT_EQ(Text(row.value), row.quoted) << row.name;
  }
}

TEST(LogTest, EveryPairOfBytesIsAValidLine) {
  Json::CharReaderBuilder builder;
  Json::CharReaderBuilder::strictMode(&builder.settings_);
  const std::unique_ptr<Json::CharReader> reader(builder.newCharReader());
  for (int pair = 0; pair < 0x10000; ++pair) {
    const std::string value = {static_cast<char>(pair >> 8), static_cast<char>(pair & 0xff), 'x'};
    const std::string line = FormatRecord(Record({{value, value}}, value), LogFormat::kJson);
    Json::Value read;
    std::string errors;
    ASSERT_TRUE(reader->parse(line.data(), line.data() + line.size(), &read, &errors))
        << line << ": " << errors;
    ASSERT_TRUE(IsUtf8(line)) << line;
    ASSERT_EQ(std::count(line.begin(), line.end(), '\n'), 0) << line;
    if (IsUtf8(value)) {
      ASSERT_EQ(read["msg"].asString(), value);
      ASSERT_EQ(read[value].asString(), value);
    }
  }
}

TEST(LogTest, Lines) {
  const LogFields bound = {{"component", "scope"}, {"n", 1}};
  const auto record = [&](LogLevel level) {
    LogRecord r = Record({}, "Some message", level);
    r.bound = &bound;
    return r;
  };
  EXPECT_EQ(FormatRecord(record(LogLevel::kError), LogFormat::kText),
            "2026-11-21T02:27:45.007Z ERROR Some message component=scope n=1");
  EXPECT_EQ(FormatRecord(record(LogLevel::kDebug), LogFormat::kJson),
            R"({"ts":"2026-11-21T02:27:45.007Z","level":"DEBUG","msg":"Some message",)"
            R"("component":"scope","n":1})");
  EXPECT_EQ(FormatRecord(Record({}, "Say \"it\""), LogFormat::kJson),
            R"({"ts":"2026-11-21T02:27:45.007Z","level":"INFO","msg":"Say \"it\""})");
}

TEST(LoggerTest, WithAddsOutermostFirstAndLeavesTheOriginal) {
  SimulatedClock clock(kTime);
  const auto sink = std::make_shared<LogCapture>();
  const Logger log(sink, clock);
  const Logger outer = log.With("component", "scope");
  const Logger inner = outer.With("controller", "instance").With("attempt", 2);
  inner.Info("Inner", {{"name", "foo"}, {"ns", "bar"}});
  outer.Error("Outer", {{"name", "foo"}});
  log.Info("Bare");
  const std::string time = "2026-11-21T02:27:45.007Z ";
  EXPECT_EQ(sink->lines(),
            (Lines{time + "INFO Inner component=scope controller=instance attempt=2 name=foo "
                          "ns=bar",
                   time + "ERROR Outer component=scope name=foo", time + "INFO Bare"}));
}

TEST(LoggerTest, TheTimeIsTheWalls) {
  SimulatedClock clock(kTime);
  clock.SetWallSkew(absl::Hours(1));
  const auto sink = std::make_shared<LogCapture>();
  Logger(sink, clock).Info("Now");
  EXPECT_EQ(sink->lines(), (Lines{"2026-11-21T03:27:45.007Z INFO Now"}));
}

TEST(LoggerTest, Verbosity) {
  for (int verbosity = 0; verbosity <= 3; ++verbosity) {
    SimulatedClock clock(kTime);
    const auto sink = std::make_shared<LogCapture>(verbosity);
    const Logger log = Logger(sink, clock).With("a", 1);
    for (int level = 1; level <= 4; ++level) log.Debug(level, "Detail", {{"level", level}});
    log.Info("Said");
    log.Error("Cried");
    const Lines lines = sink->lines();
    ASSERT_EQ(lines.size(), 2u + verbosity) << verbosity;
    for (int level = 1; level <= verbosity; ++level) {
      EXPECT_TRUE(lines[level - 1].ends_with(StrCat(" DEBUG Detail a=1 level=", level)));
    }
  }
}

TEST(LoggerTest, ADefaultOneWritesNowhere) {
  const Logger log = Logger().With("a", 1);
  log.Info("Nothing");
  log.Error("Nothing");
  log.Debug(1, "Nothing");
}

// Four threads write through copies of one logger. Returns the lines.
Lines WriteFromManyThreads(const Logger& log, LogFormat format) {
  constexpr int kThreads = 4, kLines = 250;
  const std::string payload(300, 'x');
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const Logger mine = log.With("thread", t);
      for (int i = 0; i < kLines; ++i) mine.Info("Line", {{"i", i}, {"payload", payload}});
    });
  }
  for (std::thread& thread : threads) thread.join();
  Lines lines;
  for (int t = 0; t < kThreads; ++t) {
    const LogFields bound = {{"thread", t}};
    for (int i = 0; i < kLines; ++i) {
      LogRecord record = Record({});
      record.message = "Line";
      record.bound = &bound;
      const Logger::Fields fields = {{"i", i}, {"payload", payload}};
      record.fields = fields;
      lines.push_back(FormatRecord(record, format));
    }
  }
  return lines;
}

TEST(LoggerTest, ManyThreadsWriteThroughCopiesOfOneLogger) {
  const SimulatedClock clock(kTime);
  const auto sink = std::make_shared<LogCapture>();
  const Lines written = WriteFromManyThreads(Logger(sink, clock), LogFormat::kText);
  EXPECT_THAT(sink->lines(), testing::UnorderedElementsAreArray(written));
}

TEST(StderrLogSinkTest, LinesAreWhole) {
  for (const LogFormat format : {LogFormat::kText, LogFormat::kJson}) {
    const SimulatedClock clock(kTime);
    testing::internal::CaptureStderr();
    const Lines written = WriteFromManyThreads(Logger(StderrLogSink(format, 0), clock), format);
    std::istringstream captured(testing::internal::GetCapturedStderr());
    std::multiset<std::string> lines;
    for (std::string line; std::getline(captured, line);) lines.insert(line);
    EXPECT_EQ(lines, std::multiset<std::string>(written.begin(), written.end()));
  }
}

TEST(StderrLogSinkTest, WritesAtOnceAndObeysItsVerbosity) {
  const SimulatedClock clock(kTime);
  testing::internal::CaptureStderr();
  const Logger log(StderrLogSink(LogFormat::kText, 1), clock);
  log.Debug(1, "Seen %v %n");  // not a format
  log.Debug(2, "Unseen");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "2026-11-21T02:27:45.007Z DEBUG Seen %v %n\n");
}

}  // namespace
}  // namespace mandate
