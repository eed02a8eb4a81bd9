#include "manager/cache/watch_probe.h"

#include <gtest/gtest.h>

#include <optional>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

class WatchProbeTest : public ::testing::Test {
 protected:
  void Ask() {
    probe_.emplace(client_,
                   RestRequest{.method = "GET", .target = "/api/v1/pods?watch=true", .body = ""},
                   absl::Seconds(10), [this](const absl::Status& status) {
                     answer_ = status;
                     ++answers_;
                     probe_.reset();
                   });
    EXPECT_EQ(answers_, 0) << "never inside the constructor";
  }

  SimulatedLoop loop_;
  FakeRestClient client_{loop_, "reader"};
  std::optional<WatchProbe> probe_;
  absl::Status answer_;
  int answers_ = 0;
};

TEST_F(WatchProbeTest, IsAnsweredByTheHeadAndGivesTheWatchUp) {
  client_.OnWatch([](const auto& watch) {
    watch->Open();
    watch->Send("{\"type\":\"ADDED\"}\n");
  });
  Ask();
  loop_.RunReady();
  EXPECT_EQ(answers_, 1);
  EXPECT_TRUE(answer_.ok()) << answer_;
  EXPECT_EQ(client_.live_watches(), 0u);
}

TEST_F(WatchProbeTest, TellsWhyNot) {
  const std::pair<std::function<void(FakeWatch&)>, absl::StatusCode> cases[] = {
      {[](FakeWatch& watch) { watch.Refuse(403, "{}"); }, absl::StatusCode::kPermissionDenied},
      {[](FakeWatch& watch) { watch.Close(absl::UnavailableError("x")); },
       absl::StatusCode::kUnavailable},
      {[](FakeWatch& watch) { watch.Close(); }, absl::StatusCode::kUnavailable},
      {[](FakeWatch&) {}, absl::StatusCode::kDeadlineExceeded},
  };
  for (const auto& [serve, code] : cases) {
    answers_ = 0;
    client_.OnWatch([&serve = serve](const auto& watch) { serve(*watch); });
    Ask();
    loop_.RunFor(absl::Seconds(10));
    EXPECT_EQ(answers_, 1);
    EXPECT_EQ(answer_.code(), code) << answer_;
    EXPECT_EQ(client_.live_watches(), 0u);
  }
}

TEST_F(WatchProbeTest, NothingComesAfterItsEnd) {
  client_.OnWatch([](const auto& watch) { watch->Open(); });
  Ask();
  probe_.reset();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(answers_, 0);
  EXPECT_EQ(client_.live_watches(), 0u);
}

}  // namespace
}  // namespace mandate
