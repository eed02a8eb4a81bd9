#include "manager/telemetry/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <thread>

namespace mandate {
namespace {

using testing::ElementsAre;

absl::Status Ok() { return absl::OkStatus(); }

// "NAME" of each check that passes, and "NAME: REASON" of the others.
std::vector<std::string> Results(const HealthChecks& checks) {
  std::vector<std::string> results;
  for (const HealthChecks::Result& result : checks.Run()) {
    results.push_back(result.status.ok()
                          ? result.name
                          : result.name + ": " + std::string(result.status.message()));
  }
  return results;
}

TEST(HealthChecksTest, AddsAndReplaces) {
  HealthChecks checks;
  EXPECT_THAT(Results(checks), ElementsAre("ping"));
  checks.Add("zeta", Ok);
  checks.Add("alpha", [] { return absl::UnavailableError("waits"); });
  EXPECT_THAT(Results(checks), ElementsAre("ping", "alpha: waits", "zeta"));
  checks.Add("alpha", Ok);
  EXPECT_THAT(Results(checks), ElementsAre("ping", "alpha", "zeta"));
  EXPECT_EQ(checks.RunOne("beta"), std::nullopt);
  EXPECT_EQ(checks.RunOne("zeta"), absl::OkStatus());
}

TEST(HealthChecksTest, ACheckThatThrowsFails) {
  HealthChecks checks;
  checks.Add("x", []() -> absl::Status { throw std::runtime_error("boom"); });
  EXPECT_EQ(checks.RunOne("x")->message(), "the check threw: boom");
}

TEST(HealthChecksTest, ChecksAreReplacedWhileTheyRun) {
  HealthChecks checks;
  std::atomic<bool> stop = false;
  std::thread asker([&] {
    while (!stop) {
      for (const HealthChecks::Result& result : checks.Run()) EXPECT_TRUE(result.status.ok());
    }
  });
  for (int i = 0; i < 1000; ++i) checks.Add("x", Ok);
  stop = true;
  asker.join();
}

}  // namespace
}  // namespace mandate
