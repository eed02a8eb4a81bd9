#include "manager/core/loop_watchdog.h"

#include <memory>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;

class LoopWatchdogTest : public ::testing::Test {
 protected:
  LoopWatchdogTest() { watchdog_.Start(); }

  // The watched loop is busy for this time, while the watchdog's thread runs.
  void Turn(const char* label, absl::Duration length) {
    activity_.BeginTurn();
    {
      LoopLabel scope(label);
      loop_.RunFor(length);
    }
    activity_.EndTurn();
  }

  // Like Turn(), between two checks of the watchdog.
  void UnseenTurn(const char* label, absl::Duration length) {
    activity_.BeginTurn();
    {
      LoopLabel scope(label);
      loop_.simulated_clock().AdvanceTo(loop_.clock().TimeNow() + length);
    }
    activity_.EndTurn();
  }

  double LongTurns() {
    return metrics_.Counter("mandate_event_loop_long_turns_total", "", {}).Value();
  }
  double HeldSeconds() {
    return metrics_.Gauge("mandate_event_loop_blocked_seconds", "", {}).Value();
  }

  SimulatedLoop loop_;  // the watchdog's
  Metrics metrics_;
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  LoopActivity activity_{loop_.clock(), absl::Seconds(1)};
  LoopWatchdog watchdog_{{.loop = &loop_,
                          .activity = &activity_,
                          .metrics = &metrics_,
                          .log = Logger(log_, loop_.clock()),
                          .min_log_interval = absl::Minutes(1)}};
};

TEST_F(LoopWatchdogTest, ShortTurnsAreNotReported) {
  for (int i = 0; i < 100; ++i) Turn("map", absl::Milliseconds(900));
  loop_.RunFor(absl::Minutes(1));
  EXPECT_TRUE(log_->lines().empty());
  EXPECT_EQ(LongTurns(), 0);
}

TEST_F(LoopWatchdogTest, ALoopThatHangsIsReportedWhileItHangs) {
  activity_.BeginTurn();
  LoopLabel label("scope-instance", "map of Namespace");
  loop_.RunFor(absl::Milliseconds(1500));
  EXPECT_EQ(log_->Count("is blocked"), 1);
  EXPECT_THAT(log_->Last("is blocked"), HasSubstr("scope-instance: map of Namespace"));
  EXPECT_THAT(log_->Last("is blocked"), HasSubstr("ERROR"));
  // There is one line, for any duration.
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(log_->lines().size(), 1u);
  EXPECT_GE(HeldSeconds(), 3600);
  activity_.EndTurn();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(log_->lines().size(), 2u);
  EXPECT_THAT(log_->Last("runs again"), HasSubstr("duration=1h1.5s"));
  EXPECT_THAT(log_->Last("runs again"), HasSubstr("scope-instance: map of Namespace"));
  EXPECT_EQ(HeldSeconds(), 0);
  EXPECT_EQ(LongTurns(), 1);
}

TEST_F(LoopWatchdogTest, ATurnThatEndedBetweenTwoLooksIsReported) {
  UnseenTurn("initial list", absl::Seconds(3));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(log_->lines().size(), 1u);
  EXPECT_THAT(log_->Last("was blocked"), HasSubstr("initial list"));
  EXPECT_THAT(log_->Last("was blocked"), HasSubstr("3s"));
  EXPECT_EQ(LongTurns(), 1);
}

TEST_F(LoopWatchdogTest, ManyLongTurnsAreAFewLines) {
  for (int i = 0; i < 10; ++i) {
    UnseenTurn("map", absl::Seconds(2));
    loop_.RunFor(absl::Seconds(1));
  }
  EXPECT_EQ(log_->lines().size(), 1u);
  EXPECT_EQ(LongTurns(), 10);
  loop_.RunFor(absl::Minutes(1));
  UnseenTurn("another", absl::Seconds(2));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(log_->lines().size(), 2u);
  EXPECT_THAT(log_->Last("another"), HasSubstr("omittedLines=9"));
}

TEST_F(LoopWatchdogTest, ALineMayFollowWhenTheQuietIsOver) {
  UnseenTurn("map", absl::Seconds(2));
  loop_.RunFor(absl::Seconds(1));
  ASSERT_EQ(log_->lines().size(), 1u);
  UnseenTurn("another", absl::Seconds(59));
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(log_->lines().size(), 2u);
}

TEST_F(LoopWatchdogTest, ATurnThatHangsForLongIsReportedEvenIfThereWasALineJustBefore) {
  UnseenTurn("map", absl::Seconds(2));
  loop_.RunFor(absl::Seconds(1));
  activity_.BeginTurn();
  LoopLabel label("stuck");
  loop_.RunFor(absl::Seconds(50));
  EXPECT_EQ(log_->lines().size(), 1u);
  loop_.RunFor(absl::Seconds(15));
  EXPECT_EQ(log_->lines().size(), 2u);
  EXPECT_THAT(log_->Last("stuck"), HasSubstr("omittedLines=0"));
  activity_.EndTurn();
}

TEST_F(LoopWatchdogTest, WhatHasNoLabelSaysSo) {
  activity_.BeginTurn();
  loop_.RunFor(absl::Seconds(2));
  activity_.EndTurn();
  EXPECT_THAT(log_->Last("is blocked"), HasSubstr("(no label)"));
}

}  // namespace
}  // namespace mandate
