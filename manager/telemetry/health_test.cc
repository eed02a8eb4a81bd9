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
absl::Status Down() {
  return absl::UnavailableError("controller scope waits for roles\napply this:\nkind: Role");
}

bool Healthy(const HealthChecks& checks) {
  return AnswerHealth(checks, "readyz", /*verbose=*/false, {}).code == 200;
}

TEST(HealthChecksTest, AddReplaceRemove) {
  HealthChecks checks;
  EXPECT_THAT(checks.Names(), ElementsAre("ping"));
  checks.Add("zeta", Ok);
  checks.Add("alpha", Down);
  EXPECT_THAT(checks.Names(), ElementsAre("ping", "alpha", "zeta"));
  EXPECT_FALSE(Healthy(checks));
  checks.Add("alpha", Ok);
  EXPECT_TRUE(Healthy(checks));
  checks.Remove("alpha");
  checks.Remove("never there");
  EXPECT_THAT(checks.Names(), ElementsAre("ping", "zeta"));
  EXPECT_EQ(checks.RunOne("alpha"), std::nullopt);
  EXPECT_EQ(checks.RunOne("zeta"), absl::OkStatus());
}

TEST(HealthChecksTest, ACheckThatThrowsFails) {
  HealthChecks checks;
  checks.Add("x", []() -> absl::Status { throw std::runtime_error("boom"); });
  EXPECT_EQ(checks.RunOne("x")->message(), "the check threw: boom");
}

TEST(HealthChecksTest, ManyThreads) {
  HealthChecks checks;
  std::atomic<bool> stop = false;
  std::thread asker([&] {
    while (!stop) {
      EXPECT_TRUE(Healthy(checks));
    }
  });
  for (int i = 0; i < 1000; ++i) {
    checks.Add("x", Ok);
    checks.Remove("x");
  }
  stop = true;
  asker.join();
}

TEST(AnswerHealthTest, InKubernetesWords) {
  HealthChecks healthy;
  healthy.Add("scope", Ok);
  HealthChecks sick;
  sick.Add("scope", Down);
  sick.Add("zeta", Ok);
  const struct {
    const char* what;
    const HealthChecks& checks;
    bool verbose;
    std::set<std::string> exclude;
    int code;
    const char* text;
  } rows[] = {
      {"healthy", healthy, false, {}, 200, "ok"},
      {"healthy, verbose",
       healthy,
       true,
       {},
       200,
       "[+]ping ok\n[+]scope ok\nreadyz check passed\n"},
      {"sick",
       sick,
       false,
       {},
       500,
       "[+]ping ok\n[-]scope failed: reason withheld\n[+]zeta ok\nreadyz check failed\n"},
      {"sick, verbose",
       sick,
       true,
       {},
       500,
       "[+]ping ok\n[-]scope failed: controller scope waits for roles\napply this:\nkind: "
       "Role\n[+]zeta ok\nreadyz check failed\n"},
      {"excluded", sick, false, {"scope"}, 200, "ok"},
      {"excluded, verbose",
       sick,
       true,
       {"scope"},
       200,
       "[+]ping ok\n[+]scope excluded: ok\n[+]zeta ok\nreadyz check passed\n"},
      {"excluded what is not there",
       healthy,
       true,
       {"nope"},
       200,
       "[+]ping ok\n[+]scope ok\nwarn: some health checks cannot be excluded: no matches for "
       "\"nope\"\nreadyz check passed\n"},
  };
  for (const auto& row : rows) {
    const HealthAnswer answer = AnswerHealth(row.checks, "readyz", row.verbose, row.exclude);
    EXPECT_EQ(answer.code, row.code) << row.what;
    EXPECT_EQ(answer.text, row.text) << row.what;
  }
}

TEST(AnswerHealthTest, OfOneCheck) {
  HealthChecks checks;
  checks.Add("scope", [] { return absl::UnavailableError("waits"); });
  EXPECT_EQ(AnswerHealthOf(checks, "ping").code, 200);
  EXPECT_EQ(AnswerHealthOf(checks, "ping").text, "ok");
  EXPECT_EQ(AnswerHealthOf(checks, "scope").code, 500);
  EXPECT_EQ(AnswerHealthOf(checks, "scope").text, "internal server error: waits\n");
  EXPECT_EQ(AnswerHealthOf(checks, "nope").code, 404);
}

TEST(HealthTest, WarningsAreToldToThoseWhoAskVerboselyAndFailNothing) {
  HealthChecks checks;
  std::string text;
  checks.AddWarning("a", [&] { return text; });
  checks.AddWarning("b", [] { return std::string("broken"); });
  EXPECT_EQ(AnswerHealth(checks, "readyz", /*verbose=*/true, {}).text,
            "[+]ping ok\nwarn: b: broken\nreadyz check passed\n");
  text = "cannot read x";
  const HealthAnswer answer = AnswerHealth(checks, "readyz", /*verbose=*/true, {});
  EXPECT_EQ(answer.code, 200);
  EXPECT_EQ(answer.text,
            "[+]ping ok\nwarn: a: cannot read x\nwarn: b: broken\nreadyz check passed\n");
  EXPECT_EQ(AnswerHealth(checks, "readyz", /*verbose=*/false, {}).text, "ok");
  EXPECT_TRUE(Healthy(checks));
}

}  // namespace
}  // namespace mandate
