#include "manager/core/loop_label.h"

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "gtest/gtest.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

class LoopLabelTest : public ::testing::Test {
 protected:
  void Work(int milliseconds) {
    clock_.AdvanceTo(clock_.TimeNow() + absl::Milliseconds(milliseconds));
  }

  // The label of a turn that does this, or "-" if the turn was not long.
  std::string LabelAfter(const std::function<void()>& work) {
    activity_.BeginTurn();
    work();
    activity_.EndTurn();
    const LoopActivity::View view = activity_.Look();
    return view.ended.empty() ? "-" : view.ended[0].label;
  }

  // The label of the running turn.
  std::string Running() {
    const LoopActivity::View view = activity_.Look();
    return view.running.has_value() ? view.running->label : "-";
  }

  SimulatedClock clock_;
  LoopActivity activity_{clock_, absl::Seconds(1)};
};

TEST_F(LoopLabelTest, ATurnIsReportedFromItsLimitOn) {
  EXPECT_EQ(LabelAfter([this] { Work(999); }), "-");
  EXPECT_EQ(LabelAfter([this] { Work(1000); }), "");
  activity_.BeginTurn();
  Work(1500);
  EXPECT_EQ(activity_.EndTurn(), absl::Milliseconds(1500));
  const LoopActivity::View view = activity_.Look();
  ASSERT_EQ(view.ended.size(), 1u);
  EXPECT_EQ(view.ended[0].number, 3u);
  EXPECT_EQ(view.ended[0].length, absl::Milliseconds(1500));
  EXPECT_EQ(view.long_turns, 2u);
  EXPECT_TRUE(activity_.Look().ended.empty());
}

TEST_F(LoopLabelTest, TheLabelThatHadHalfOfIt) {
  EXPECT_EQ(LabelAfter([this] {
              LoopLabel label("a", "map");
              Work(2000);
            }),
            "a: map");
  EXPECT_EQ(LabelAfter([this] {
              { LoopLabel label("short"); }
              {
                LoopLabel label("long");
                Work(1500);
              }
              LoopLabel label("middle");
              Work(500);
            }),
            "long");
  EXPECT_EQ(LabelAfter([this] {
              {
                LoopLabel label("less");
                Work(900);
              }
              LoopLabel label("half");
              Work(1100);
            }),
            "half");
  EXPECT_EQ(LabelAfter([this] {
              {
                LoopLabel label("label");
                Work(400);
              }
              Work(1600);
            }),
            "");
}

TEST_F(LoopLabelTest, OfNestedLabelsTheInnermostThatHadHalf) {
  EXPECT_EQ(LabelAfter([this] {
              LoopLabel outer("outer");
              Work(300);
              LoopLabel inner("inner");
              Work(1500);
            }),
            "inner");
  EXPECT_EQ(LabelAfter([this] {
              LoopLabel outer("outer");
              for (int i = 0; i < 10; ++i) {
                LoopLabel inner("inner");
                Work(200);
              }
            }),
            "outer");
}

TEST_F(LoopLabelTest, OneTurnsLabelIsNotTheNexts) {
  EXPECT_EQ(LabelAfter([this] {
              LoopLabel label("first");
              Work(2000);
            }),
            "first");
  EXPECT_EQ(LabelAfter([this] { Work(1000); }), "");
}

TEST_F(LoopLabelTest, ShowsTheTurnUnderWay) {
  EXPECT_EQ(Running(), "-");
  activity_.BeginTurn();
  EXPECT_EQ(Running(), "");
  {
    LoopLabel outer("outer");
    Work(10);
    EXPECT_EQ(Running(), "outer");
    EXPECT_EQ(activity_.CurrentLabel(), "outer");
    {
      LoopLabel inner("inner");
      Work(2);
      EXPECT_EQ(Running(), "outer");
      EXPECT_EQ(activity_.CurrentLabel(), "inner");
      Work(100);
      EXPECT_EQ(Running(), "inner");
    }
    // It has ended, and took most of the time.
    EXPECT_EQ(Running(), "inner");
    EXPECT_EQ(activity_.CurrentLabel(), "outer");
  }
  EXPECT_EQ(activity_.Look().running->length, absl::Milliseconds(112));
  activity_.EndTurn();
  EXPECT_EQ(Running(), "-");
}

TEST_F(LoopLabelTest, DoesNothingElsewhere) {
  LoopLabel outside("outside");
  activity_.BeginTurn();
  std::thread([this] {
    LoopLabel label("another thread's");
    EXPECT_EQ(activity_.CurrentLabel(), "");
  }).join();
  EXPECT_EQ(activity_.CurrentLabel(), "");
  Work(1000);
  activity_.EndTurn();
  EXPECT_EQ(activity_.Look().ended.at(0).label, "");
}

TEST_F(LoopLabelTest, KeepsAFewTurnsAndCountsAll) {
  for (int i = 0; i < 20; ++i) {
    activity_.BeginTurn();
    Work(1000);
    activity_.EndTurn();
  }
  const LoopActivity::View view = activity_.Look();
  EXPECT_EQ(view.ended.size(), LoopActivity::kMaxEnded);
  EXPECT_EQ(view.long_turns, 20u);
}

}  // namespace
}  // namespace mandate
