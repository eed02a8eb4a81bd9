#include "testing/conformance/audit_log.h"

#include <gtest/gtest.h>

#include <fstream>

namespace mandate::conformance {
namespace {

TEST(AuditLogTest, CollectsTheEventsOfARequestHoweverTheyAreCut) {
  std::string next;
  AuditLog log([&] { return std::exchange(next, ""); });
  EXPECT_EQ(log.EventsOf("a").size(), 0u);
  next = "{\"auditID\":\"a\",\"stage\":\"1\"}\nnoise\n{\"auditID\":\"b\"}\n{\"auditID\":";
  EXPECT_EQ(log.EventsOf("a").size(), 1u);
  next = "\"a\",\"stage\":\"2\"}\n";
  const Json::Value events = log.EventsOf("a");
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0]["stage"], "1");
  EXPECT_EQ(events[1]["stage"], "2");
  EXPECT_EQ(log.EventsOf("b").size(), 1u);
}

TEST(AuditLogTest, FollowsAFileFromItsEnd) {
  const std::string path = testing::TempDir() + "/audit.log";
  std::ofstream file(path);
  file << "old\n" << std::flush;
  const auto more = FollowFile(path);
  EXPECT_EQ(more(), "");
  file << "new\n" << std::flush;
  EXPECT_EQ(more(), "new\n");
  file << "newer\n" << std::flush;
  EXPECT_EQ(more(), "newer\n");
}

}  // namespace
}  // namespace mandate::conformance
