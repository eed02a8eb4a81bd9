#include "manager/core/testing/awaited_log.h"

#include <memory>
#include <thread>

#include "gtest/gtest-spi.h"
#include "gtest/gtest.h"

namespace mandate {
namespace {

TEST(AwaitedLogTest, ReturnsTheLine) {
  const auto log = std::make_shared<AwaitedLog>();
  std::thread writer([&] { Logger(log, Clock::Real()).Info("Became leader", {{"lease", "a"}}); });
  EXPECT_NE(log->Await("Became").find("lease=a"), std::string::npos);
  writer.join();
}

TEST(AwaitedLogTest, FailsWithTheLogWhenNoLineComes) {
  const auto log = std::make_shared<AwaitedLog>();
  Logger(log, Clock::Real()).Info("Became leader");
  std::string line = "set by nobody";
  EXPECT_NONFATAL_FAILURE(line = log->Await("Lost the Lease", std::chrono::seconds(0)),
                          "Became leader");
  EXPECT_EQ(line, "");
}

}  // namespace
}  // namespace mandate
