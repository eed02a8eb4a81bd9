#include "manager/admission/review_deadlines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ReviewDeadlinesTest : public testing::Test {
 protected:
  ~ReviewDeadlinesTest() override {
    deadlines_->Close();
    loop_.RunReady();
    EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
  }
  ReviewDeadlines::Key Add(const std::string& name, absl::Duration after) {
    const absl::Time when = start_ + after;
    return deadlines_->Add(when, [this, name, when] {
      EXPECT_EQ(loop_.clock().TimeNow(), when) << name;
      late_.push_back(name);
    });
  }

  SimulatedLoop loop_;
  const absl::Time start_ = loop_.clock().TimeNow();
  std::shared_ptr<ReviewDeadlines> deadlines_ = ReviewDeadlines::Create(loop_);
  std::vector<std::string> late_;
};

TEST_F(ReviewDeadlinesTest, RunsEachAtItsTime) {
  Add("third", absl::Seconds(3));
  loop_.RunReady();
  Add("first", absl::Seconds(1));
  Add("second", absl::Seconds(2));
  Add("second too", absl::Seconds(2));
  loop_.RunFor(absl::Seconds(10));
  EXPECT_THAT(late_, ElementsAre("first", "second", "second too", "third"));
}

TEST_F(ReviewDeadlinesTest, DoesNotRunWhatWasRemoved) {
  const auto first = Add("first", absl::Seconds(1));
  Add("second", absl::Seconds(2));
  deadlines_->Remove(first);
  deadlines_->Remove(first);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_THAT(late_, ElementsAre("second"));
}

TEST_F(ReviewDeadlinesTest, DoesNotWakeTheLoopForALaterOne) {
  deadlines_->Remove(Add("first", absl::Seconds(1)));
  loop_.RunReady();
  deadlines_->Remove(Add("second", absl::Seconds(2)));
  EXPECT_EQ(loop_.NextTimer(), start_ + absl::Seconds(1));
  EXPECT_EQ(loop_.ready_tasks(), 0u);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
  EXPECT_THAT(late_, IsEmpty());
}

TEST_F(ReviewDeadlinesTest, SetsTheTimerAgainAfterItRan) {
  Add("first", absl::Seconds(1));
  loop_.RunFor(absl::Seconds(2));
  Add("second", absl::Seconds(3));
  loop_.RunFor(absl::Seconds(2));
  EXPECT_THAT(late_, ElementsAre("first", "second"));
}

TEST_F(ReviewDeadlinesTest, MayAddAndRemoveInACallback) {
  deadlines_->Add(start_ + absl::Seconds(1), [this] {
    deadlines_->Remove(Add("never", absl::Seconds(2)));
    Add("later", absl::Seconds(3));
  });
  loop_.RunFor(absl::Seconds(10));
  EXPECT_THAT(late_, ElementsAre("later"));
}

TEST_F(ReviewDeadlinesTest, RunsNothingAfterClose) {
  Add("first", absl::Seconds(1));
  deadlines_->Close();
  Add("sooner", absl::Milliseconds(500));
  loop_.RunFor(absl::Seconds(10));
  EXPECT_THAT(late_, IsEmpty());
}

}  // namespace
}  // namespace mandate
