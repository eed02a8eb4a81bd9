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

// The spec was edited since: who waits for a condition must not take this one for the new spec's.
TEST(ConditionsTest, AConditionMayBeAboutAnEarlierGeneration) {
  const ConditionList made =
      MakeConditions({{"A", true, "R", "m", 1}, {"B", true, "R", "m"}}, {}, 2, kNow);
  EXPECT_EQ(made[0].observedgeneration(), 1);
  EXPECT_EQ(made[1].observedgeneration(), 2);
}

TEST(ConditionsTest, ConditionsUpToDateIgnoresTimesAndOrderAndNothingElse) {
  const std::vector<DesiredCondition> two = {{"A", true, "R", "m"}, {"B", false, "R", "m"}};
  const std::vector<DesiredCondition> swapped = {two[1], two[0]};
  const auto made = [](const std::vector<DesiredCondition>& desired, int64_t generation = 1) {
    return MakeConditions(desired, {}, generation, generation == 1 ? kThen : kNow);
  };
  EXPECT_TRUE(ConditionsUpToDate(MakeConditions(two, {}, 1, kNow), made(swapped), {"A", "B"}));
  EXPECT_FALSE(ConditionsUpToDate(made(two), made(two, 2), {"A", "B"}));
  EXPECT_FALSE(ConditionsUpToDate(made(two), made({two[0]}), {"A", "B"})) << "B is not wanted";
  EXPECT_FALSE(ConditionsUpToDate(made({two[0]}), made(two), {"A", "B"})) << "B is missing";
  for (const DesiredCondition& other : {DesiredCondition{"A", false, "R", "m"},
                                        {"A", true, "S", "m"},
                                        {"A", true, "R", "n"},
                                        {"C", true, "R", "m"}}) {
    EXPECT_FALSE(ConditionsUpToDate(made({two[0]}), made({other}), {"A", "B"})) << other.type;
  }
}

// A condition that another controller writes does not cause another write of ours.
TEST(ConditionsTest, ConditionsOfOthersDoNotMatter) {
  const DesiredCondition ours{"Scoped", true, "Fine", "m"}, other{"Audited", true, "R", "m"};
  EXPECT_TRUE(ConditionsUpToDate(MakeConditions({other, ours}, {}, 1, kThen),
                                 MakeConditions({ours}, {}, 1, kNow), {"Scoped", "Effective"}));
}

TEST(ConditionsTest, FindsWhatIsFalseOfAGeneration) {
  const ConditionList made =
      MakeConditions({{"A", false, "R", "m"}, {"B", true, "R", "m"}}, {}, 2, kNow);
  EXPECT_EQ(FindFalse(made, "A", 2), &made[0]);
  EXPECT_EQ(FindFalse(made, "A", 3), nullptr);
  EXPECT_EQ(FindFalse(made, "B", 2), nullptr);
  EXPECT_EQ(FindFalse(made, "C", 2), nullptr);
}

TEST(ConditionsTest, ControlCharactersAreEscaped) {
  const ConditionList made = MakeConditions({{"A", false, "R", "a\x1b[2Jb\n"}}, {}, 1, kNow);
  EXPECT_EQ(made[0].message(), "a\\x1b[2Jb\\x0a");
}

TEST(ConditionsTest, LongMessagesAreCutBetweenCharacters) {
  std::string message;
  while (message.size() < 40000) message += "é";
  const ConditionList cut = MakeConditions({{"A", false, "R", message}}, {}, 1, kNow);
  EXPECT_LE(cut[0].message().size(), 32768u);
  EXPECT_GT(cut[0].message().size(), 32700u);
  EXPECT_TRUE(cut[0].message().ends_with("é…"));
}

TEST(CheckTypesTest, AMistypedTypeIsAnError) {
  const DesiredCondition ready{"Ready", true, "Fine", ""}, other{"Effective", true, "Fine", ""};
  EXPECT_TRUE(CheckTypes({ready, other}, {"Ready", "Effective"}).ok());
  EXPECT_TRUE(CheckTypes({}, {"Ready"}).ok());
  const absl::Status mistyped = CheckTypes({ready, other}, {"Ready", "Efective"});
  EXPECT_TRUE(absl::IsInternal(mistyped));
  EXPECT_EQ(mistyped.message(),
            "condition Effective is not among the types that this controller reports");
}

}  // namespace
}  // namespace mandate
