#include "controllers/conditions.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

const absl::Time kThen = absl::FromUnixSeconds(1000);
const absl::Time kNow = absl::FromUnixSeconds(2000);

TEST(ConditionsTest, TransitionTimeMovesWithTheStatusOnly) {
  const ConditionList before = MakeConditions({{"Scoped", true, "Fine", "all well"}}, {}, 1, kThen);
  ASSERT_EQ(before.size(), 1);
  EXPECT_EQ(before[0].lasttransitiontime().seconds(), 1000);
  EXPECT_EQ(before[0].status(), "True");
  EXPECT_EQ(before[0].observedgeneration(), 1);

  const ConditionList reworded =
      MakeConditions({{"Scoped", true, "Fine", "very well"}}, before, 2, kNow);
  EXPECT_EQ(reworded[0].lasttransitiontime().seconds(), 1000);
  EXPECT_EQ(reworded[0].observedgeneration(), 2);

  const ConditionList failed = MakeConditions({{"Scoped", false, "Bad", "x"}}, before, 2, kNow);
  EXPECT_EQ(failed[0].lasttransitiontime().seconds(), 2000);
}

TEST(ConditionsTest, SameIgnoresTimesAndOrderAndNothingElse) {
  const std::vector<DesiredCondition> two = {{"A", true, "R", "m"}, {"B", false, "R", "m"}};
  const std::vector<DesiredCondition> swapped = {two[1], two[0]};
  EXPECT_TRUE(
      SameConditions(MakeConditions(two, {}, 1, kThen), MakeConditions(swapped, {}, 1, kNow)));
  EXPECT_FALSE(
      SameConditions(MakeConditions(two, {}, 1, kThen), MakeConditions(two, {}, 2, kThen)));
  EXPECT_FALSE(
      SameConditions(MakeConditions(two, {}, 1, kThen), MakeConditions({two[0]}, {}, 1, kThen)));
  for (const DesiredCondition& other : {DesiredCondition{"A", false, "R", "m"},
                                        {"A", true, "S", "m"},
                                        {"A", true, "R", "n"},
                                        {"C", true, "R", "m"}}) {
    EXPECT_FALSE(SameConditions(MakeConditions({two[0]}, {}, 1, kThen),
                                MakeConditions({other}, {}, 1, kThen)))
        << other.type;
  }
}

TEST(ConditionsTest, LongMessagesAreCutBetweenCharacters) {
  std::string message;
  while (message.size() < 40000) message += "é";
  const ConditionList cut = MakeConditions({{"A", false, "R", message}}, {}, 1, kNow);
  EXPECT_LE(cut[0].message().size(), 32768u);
  EXPECT_GT(cut[0].message().size(), 32700u);
  EXPECT_TRUE(cut[0].message().ends_with("é…"));
}

}  // namespace
}  // namespace mandate
