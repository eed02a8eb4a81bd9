#include "manager/cache/initial_state.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "manager/cache/testing/watch_json.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using Type = WatchEventType;

class InitialStateTest : public ::testing::Test {
 protected:
  static WatchEvent Event(Type type, ObjectPtr object = nullptr) {
    WatchEvent event;
    event.type = type;
    event.object = std::move(object);
    return event;
  }
  // "default/a@1 default/b@2".
  std::string Release() { return Text(state_->Release().objects); }

  SimulatedLoop loop_;
  int silences_ = 0;
  std::optional<InitialState> state_{std::in_place, loop_, absl::Seconds(30),
                                     [this] { ++silences_; }};
};

TEST_F(InitialStateTest, HoldsTheObjectsOfTheEvents) {
  EXPECT_TRUE(state_->Take(Event(Type::kAdded, Widget("default/b", 2))).ok());
  EXPECT_TRUE(state_->Take(Event(Type::kAdded, Widget("default/a", 1))).ok());
  EXPECT_TRUE(state_->Take(Event(Type::kAdded, Widget("default/c", 3))).ok());
  EXPECT_TRUE(state_->Take(Event(Type::kModified, Widget("default/a", 4))).ok());
  EXPECT_TRUE(state_->Take(Event(Type::kDeleted, Widget("default/c", 5))).ok());
  EXPECT_TRUE(state_->Take(Event(Type::kBookmark)).ok());
  EXPECT_EQ(Release(), "default/a@4 default/b@2");
  EXPECT_EQ(Release(), "") << "it is empty then";
}

TEST_F(InitialStateTest, CountsTheBytesThatItHolds) {
  EXPECT_EQ(state_->bytes(), 0u);
  const ObjectPtr widget = Widget("default/a", 1);
  EXPECT_TRUE(state_->Take(Event(Type::kAdded, widget)).ok());
  const size_t one = state_->bytes();
  EXPECT_GT(one, 0u);
  EXPECT_TRUE(state_->Take(Event(Type::kAdded, Widget("default/b", 2))).ok());
  EXPECT_EQ(state_->bytes(), 2 * one);
  EXPECT_TRUE(state_->Take(Event(Type::kDeleted, Widget("default/b", 3))).ok());
  EXPECT_EQ(state_->bytes(), one);
}

TEST_F(InitialStateTest, ReturnsTheErrorOfTheServer) {
  WatchEvent event = Event(Type::kError);
  event.error = absl::ResourceExhaustedError("too many");
  EXPECT_EQ(state_->Take(std::move(event)), absl::ResourceExhaustedError("too many"));
}

TEST_F(InitialStateTest, SilenceIsReportedOnceItHasLasted) {
  loop_.RunFor(absl::Seconds(29));
  EXPECT_EQ(silences_, 0);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(silences_, 1);
}

TEST_F(InitialStateTest, EachEventOfAnObjectAndEachBookmarkEndsTheSilence) {
  loop_.RunFor(absl::Seconds(20));
  EXPECT_TRUE(state_->Take(Event(Type::kAdded, Widget("default/a", 1))).ok());
  loop_.RunFor(absl::Seconds(20));
  EXPECT_TRUE(state_->Take(Event(Type::kDeleted, Widget("default/a", 2))).ok());
  loop_.RunFor(absl::Seconds(20));
  EXPECT_TRUE(state_->Take(Event(Type::kBookmark)).ok());
  loop_.RunFor(absl::Seconds(29));
  EXPECT_EQ(silences_, 0);
  EXPECT_TRUE(state_->Take(Event(Type::kUnknown)).ok());
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(silences_, 1) << "an unknown event does not count";
}

TEST_F(InitialStateTest, TheSilenceCallbackMayDestroyIt) {
  state_.emplace(loop_, absl::Seconds(5), [this] {
    ++silences_;
    state_.reset();
  });
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(silences_, 1);
  state_.emplace(loop_, absl::Seconds(5), [this] { ++silences_; });
  state_.reset();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(silences_, 1);
}

}  // namespace
}  // namespace mandate
