#include "manager/cache/unreadable_log.h"

#include <gtest/gtest.h>

#include <memory>

#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

TEST(UnreadableLogTest, IsBoundedForEachPass) {
  SimulatedLoop loop;
  const auto capture = std::make_shared<LogCapture>();
  UnreadableLog log(Logger(capture, loop.clock()));
  const UnreadableObject object = {
      .why = absl::DataLossError("nests too deep"), .key = {"foo", "bar"}, .resource_version = "1"};
  for (int i = 0; i < 2 * UnreadableLog::kMaxLines; ++i) log.Add(object);
  EXPECT_EQ(capture->Count("ERROR An object, or an event of one, cannot be read"),
            UnreadableLog::kMaxLines);
  EXPECT_EQ(capture->Count("object=foo/bar"), UnreadableLog::kMaxLines);
  EXPECT_EQ(capture->Count("nests too deep"), UnreadableLog::kMaxLines);
  log.StartPass();
  log.Add(object);
  EXPECT_EQ(capture->Count("object=foo/bar"), UnreadableLog::kMaxLines + 1);
}

}  // namespace
}  // namespace mandate
