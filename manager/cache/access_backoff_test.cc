#include "manager/cache/access_backoff.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

class AccessBackoffTest : public ::testing::Test {
 protected:
  // The next delays are these, each longer by at most a fifth.
  void Expect(std::initializer_list<int> seconds) {
    for (const int s : seconds) {
      const absl::Duration delay = backoff_.Next(random_);
      EXPECT_GE(delay, absl::Seconds(s));
      EXPECT_LT(delay, 1.2 * absl::Seconds(s));
    }
  }

  std::mt19937_64 random_{1};
  AccessBackoff backoff_{AccessBackoff::Options()};
};

TEST_F(AccessBackoffTest, RetriesSlowlyWithoutEarlierAccess) {
  Expect({30, 60, 120, 240, 300, 300});
  backoff_.Hint();
  Expect({30, 60});
}

TEST_F(AccessBackoffTest, RetriesLostAccessSoonAndThenSlowly) {
  backoff_.Granted();
  Expect({1, 2, 4, 8, 16, 30, 30, 60, 120, 240, 300});
  backoff_.Granted();
  Expect({1, 2});
  backoff_.Granted();
  Expect({1});
}

TEST_F(AccessBackoffTest, AHintDoesNotRestartTheQuickRetries) {
  backoff_.Granted();
  Expect({1, 2, 4, 8, 16, 30, 30, 60});
  backoff_.Hint();
  Expect({30, 60});
}

}  // namespace
}  // namespace mandate
