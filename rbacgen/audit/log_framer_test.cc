#include "rbacgen/audit/log_framer.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/strings.h"
#include "rbacgen/audit/event.h"
#include "rbacgen/audit/testing/audit_log_maker.h"

namespace mandate::rbacgen {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Reading {
  std::vector<std::string> events;   // audit ids
  std::vector<std::string> damaged;  // "log:line"
  bool unfinished = false;
};

std::string Event(std::string_view id, std::string_view more = "") {
  return StrCat(R"({"kind":"Event","apiVersion":"audit.k8s.io/v1","auditID":")", id, "\"", more,
                "}");
}

// The logs are named a, b, …; each log is added in pieces of `piece` bytes.
Reading Read(const std::vector<std::string>& logs, size_t piece, size_t max_event = 4096) {
  Reading reading;
  AuditEvent event;
  LogFramer framer(max_event, {.event =
                                   [&](std::string_view text) {
                                     absl::Status status = ParseAuditEvent(text, &event);
                                     if (status.ok()) reading.events.push_back(event.audit_id);
                                     return status;
                                   },
                               .damaged =
                                   [&](const std::string& log, int64_t line, std::string_view) {
                                     reading.damaged.push_back(StrCat(log, ":", line));
                                   }});
  for (size_t i = 0; i < logs.size(); ++i) {
    framer.BeginLog(std::string(1, static_cast<char>('a' + i)));
    for (size_t at = 0; at < logs[i].size(); at += piece) {
      framer.Add(std::string_view(logs[i]).substr(at, piece));
    }
  }
  reading.unfinished = framer.Finish();
  return reading;
}

struct Case {
  std::string name;
  std::vector<std::string> logs;
  std::vector<std::string> events;
  std::vector<std::string> damaged;
  bool unfinished = false;
};

std::vector<Case> Cases() {
  const std::string list_head = R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[)";
  const std::string indented =
      "{\n  \"kind\": \"Event\",\n  \"apiVersion\": \"audit.k8s.io/v1\",\n"
      "  \"auditID\": \"1\",\n  \"user\": {\n    \"groups\": [\n      \"a\"\n    ]\n  }\n}\n";
  const std::string cut = Event("2", R"(,"verb":"list","user":{"username":"u"})");
  return {
      {"nothing", {""}, {}, {}},
      {"blank lines", {"\n \r\n\n"}, {}, {}},
      {"lines", {Event("1") + "\n" + Event("2") + "\r\n" + Event("3")}, {"1", "2", "3"}, {}},
      {"garbage between",
       {Event("1") + "\ngarbage\n{}\n" + Event("2") + "\n"},
       {"1", "2"},
       {"a:2", "a:3"}},
      {"a torn line", {Event("1").substr(0, 50) + "\n" + Event("2") + "\n"}, {"2"}, {"a:1"}},
      {"torn, and the next on the same line",
       {Event("1").substr(0, 50) + Event("2") + "\n"},
       {"2"},
       {"a:1"}},
      {"two whole ones on a line", {Event("1") + Event("2") + "\n"}, {"2", "1"}, {}},
      {"the last line is being written",
       {Event("1") + "\n" + Event("2").substr(0, 60)},
       {"1"},
       {},
       true},
      {"cut by the rotation, in a string",
       {Event("1") + "\n" + cut.substr(0, 75), cut.substr(75) + "\n" + Event("3") + "\n"},
       {"1", "2", "3"},
       {}},
      {"cut by the rotation, between tokens",
       {cut.substr(0, cut.find("\"user\"")), cut.substr(cut.find("\"user\"")) + "\n"},
       {"2"},
       {}},
      {"cut before its line feed", {Event("1"), "\n" + Event("2") + "\n"}, {"1", "2"}, {}},
      {"cut off for good", {Event("1").substr(0, 60), Event("2") + "\n"}, {"2"}, {"a:1"}},
      {"a byte order mark",
       {"\xEF\xBB\xBF" + Event("1") + "\n" + Event("2") + "\n", "\xEF\xBB\xBF" + Event("3")},
       {"1", "2", "3"},
       {}},
      {"a list whose items name no kind, as webhooks get it",
       {list_head + R"({"level":"Metadata","auditID":"1","stage":"Panic"},)" +
        R"({"level":"Request","auditID":"2","stage":"ResponseComplete"}]})"},
       {"1", "2"},
       {}},
      {"a list in a line", {list_head + Event("1") + "," + Event("2") + "]}\n"}, {"1", "2"}, {}},
      {"lists one after another, without line feeds",
       {list_head + Event("1") + "]}" + list_head + Event("2") + "]}"},
       {"1", "2"},
       {}},
      {"an empty list", {list_head + "]}\n" + Event("1") + "\n"}, {"1"}, {}},
      {"a list whose keys are sorted",
       {R"({"apiVersion":"audit.k8s.io/v1","items":[)" + Event("1") +
        R"(],"kind":"EventList","metadata":{"items":[{"x":1}]}})"},
       {"1"},
       {}},
      {"a list with items on lines of their own",
       {list_head + "\n" + Event("1") + ",\n" + Event("2") + "\n]}\n"},
       {"1", "2"},
       {}},
      {"an array", {"[" + Event("1") + ", " + Event("2") + "]"}, {"1", "2"}, {}},
      {"indented events", {indented + indented}, {"1", "1"}, {}},
      {"an indented event that is cut off",
       {indented.substr(0, 80) + "\n" + indented},
       {"1"},
       {"a:6"}},
      {"a list that is cut off in a string",
       {list_head + Event("1") + "," + Event("2").substr(0, 60) + "\n" + Event("3") + "\n"},
       {"1", "3"},
       {"a:2"}},
      {"a list without its end", {list_head + Event("1") + ","}, {"1"}, {"a:1"}},
      {"a list with something else in it", {list_head + "{}," + Event("1") + "]}"}, {"1"}, {"a:1"}},
      {"brackets in strings",
       {list_head + Event("1", R"(,"requestURI":"/]}\"[{\\")") + "]}"},
       {"1"},
       {}},
      {"too long a line",
       {Event("1") + "\n" + std::string(5000, 'x') + "\n" + Event("2") + "\n"},
       {"1", "2"},
       {"a:2"}},
      {"too long an item",
       {list_head + Event("1", StrCat(R"(,"userAgent":")", std::string(5000, 'x'), "\"")) + "," +
        Event("2") + "]}"},
       {"2"},
       {"a:1"}},
  };
}

TEST(LogFramer, FindsTheSameEventsInPiecesOfAnySize) {
  for (const Case& c : Cases()) {
    for (const size_t piece : {size_t{1}, size_t{3}, size_t{100}, size_t{700}, size_t{1} << 20}) {
      const Reading reading = Read(c.logs, piece);
      EXPECT_EQ(reading.events, c.events) << c.name << ", pieces of " << piece;
      EXPECT_EQ(reading.damaged, c.damaged) << c.name << ", pieces of " << piece;
      EXPECT_EQ(reading.unfinished, c.unfinished) << c.name << ", pieces of " << piece;
    }
  }
}

TEST(LogFramer, ReadsEventsAsKubeApiserverWritesThem) {
  testing::AuditLogMaker maker(7, 3);
  std::string log, list = R"({"kind":"EventList","apiVersion":"audit.k8s.io/v1","items":[)";
  constexpr int kEvents = 500;
  for (int i = 0; i < kEvents; ++i) {
    const std::string event = maker.Next();
    log += event;
    StrAppend(&list, i == 0 ? "" : ",", event.substr(0, event.size() - 1));
  }
  const Reading lines = Read({log}, 4096, 1 << 20);
  EXPECT_EQ(lines.events.size(), kEvents);
  EXPECT_THAT(lines.damaged, IsEmpty());
  const Reading items = Read({list + "]}\n"}, 4096, 1 << 20);
  EXPECT_EQ(items.events, lines.events);
  EXPECT_THAT(items.damaged, IsEmpty());
}

}  // namespace
}  // namespace mandate::rbacgen
