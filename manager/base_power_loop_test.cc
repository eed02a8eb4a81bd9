#include "manager/base_power_loop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class BasePowerLoopTest : public testing::Test {
 protected:
  BasePowerLoopTest() {
    client_.Handle([this](const RestRequest&) -> absl::StatusOr<HttpResponse> {
      if (!server_.ok()) return server_;
      return FakeRestClient::Json(201, R"({"status":{"allowed":true}})");
    });
    power_loop_ = std::make_unique<BasePowerLoop>(BasePowerLoop::Options{
        .base = &client_,
        .workers = &pool_,
        .ns = "ops",
        .retry = {.initial = absl::Seconds(1), .factor = 2, .max = absl::Seconds(5), .jitter = 0},
        .report = [this](const absl::StatusOr<BasePower>& power) {
          reports_.push_back(power);
          seconds_.push_back(
              static_cast<int>((loop_.clock().TimeNow() - start_) / absl::Seconds(1)));
        }});
  }
  // Nothing is left that was under way.
  ~BasePowerLoopTest() override {
    power_loop_.reset();
    loop_.RunFor(absl::Hours(1));
    EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
  }

  SimulatedLoop loop_;
  const absl::Time start_ = loop_.clock().TimeNow();
  SimulatedPool pool_{loop_, 1};
  FakeRestClient client_{loop_, "base"};
  absl::Status server_;
  std::vector<absl::StatusOr<BasePower>> reports_;
  std::vector<int> seconds_;
  std::unique_ptr<BasePowerLoop> power_loop_;
};

TEST_F(BasePowerLoopTest, AsksUntilThereIsAnAnswer) {
  server_ = absl::ResourceExhaustedError("too many requests");
  loop_.RunFor(absl::Seconds(14));
  EXPECT_THAT(seconds_, ElementsAre(1, 3, 7, 12));
  for (const auto& report : reports_) EXPECT_EQ(report.status(), server_);
  server_ = absl::OkStatus();
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(seconds_, ElementsAre(1, 3, 7, 12, 17)) << "and no more";
  ASSERT_TRUE(reports_.back().ok()) << reports_.back().status();
  EXPECT_TRUE(reports_.back()->anything);
}

TEST_F(BasePowerLoopTest, EndedItAsksNothing) {
  power_loop_.reset();
  loop_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.requests(), IsEmpty());
}

// The answer travels.
TEST_F(BasePowerLoopTest, EndedWhileItAsksItReportsNothing) {
  client_.SetDelay([] { return absl::Seconds(1); });
  loop_.PostAt(start_ + absl::Milliseconds(1500), [this] { power_loop_.reset(); });
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(client_.requests().size(), 1u);
  EXPECT_THAT(seconds_, IsEmpty());
}

}  // namespace
}  // namespace mandate
