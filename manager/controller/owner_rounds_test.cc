#include "manager/controller/owner_rounds.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "manager/core/strings.h"

namespace mandate {
namespace {

class OwnerRoundsTest : public testing::Test {
 protected:
  OwnerRoundsTest() {
    AddOwners(a_, 600);
    AddOwners(b_, 300);
  }

  // Owners in the namespace of the stream, each with this selector.
  void AddOwners(const DemandSpec& stream, size_t count, const std::string& selector = "") {
    for (size_t i = 0; i < count; ++i) {
      table_.Replace({{stream.ns, StrCat(selector, i)}, "1"},
                     {{stream, *LabelSelector::Parse(selector)}});
    }
  }
  // The next slice, as STREAM:NUMBER_OF_OWNERS.
  std::string Next() {
    const auto slice = rounds_.NextSlice(table_);
    return slice.empty() ? "none" : StrCat(slice[0].key.ns, ":", slice.size());
  }
  // The owners of all slices that are left, each once.
  size_t CountRest() {
    std::set<Request> owners;
    size_t count = 0;
    while (!rounds_.empty()) {
      for (const Request& request : rounds_.NextSlice(table_)) {
        owners.insert(request);
        ++count;
      }
    }
    EXPECT_EQ(owners.size(), count) << "each owner is enqueued once";
    return count;
  }

  DemandTable table_;
  const DemandSpec a_ = {{}, "a", ""}, b_ = {{}, "b", ""}, c_ = {{}, "c", ""};
  OwnerRounds rounds_;
};

TEST_F(OwnerRoundsTest, StreamsTakeTurns) {
  EXPECT_TRUE(rounds_.Begin(a_));
  EXPECT_FALSE(rounds_.Begin(b_)) << "slices are asked for already";
  EXPECT_EQ(Next(), "a:256");
  EXPECT_EQ(Next(), "b:256");
  EXPECT_EQ(Next(), "a:256");
  EXPECT_EQ(Next(), "b:44");
  EXPECT_FALSE(rounds_.empty());
  EXPECT_EQ(Next(), "a:88");
  EXPECT_TRUE(rounds_.empty());
  EXPECT_EQ(Next(), "none");
  EXPECT_TRUE(rounds_.Begin(a_));
}

TEST_F(OwnerRoundsTest, ChangesDuringARoundAreOneMoreRound) {
  rounds_.Begin(b_);
  rounds_.Begin(b_);  // no owner was enqueued yet: this is the same round
  EXPECT_EQ(Next(), "b:256");
  EXPECT_FALSE(rounds_.Begin(b_));
  EXPECT_FALSE(rounds_.Begin(table_, b_, {}));
  EXPECT_EQ(Next(), "b:44");
  EXPECT_EQ(Next(), "b:256");
  EXPECT_EQ(Next(), "b:44");
  EXPECT_TRUE(rounds_.empty());
}

TEST_F(OwnerRoundsTest, AStreamThatHasLostItsOwnersEnds) {
  rounds_.Begin(a_);
  for (size_t i = 0; i < 600; ++i) table_.Release({"a", StrCat(i)});
  EXPECT_EQ(Next(), "none");
  EXPECT_TRUE(rounds_.empty());
  rounds_.Begin(b_);
  rounds_.Clear();
  EXPECT_TRUE(rounds_.empty());
  EXPECT_TRUE(rounds_.Begin(b_));
  EXPECT_EQ(Next(), "b:256");
}

TEST_F(OwnerRoundsTest, ARoundIsForThoseWhomTheChangesConcern) {
  AddOwners(c_, 500, "app=web");
  AddOwners(c_, 400, "app=db");
  AddOwners(c_, 300, "tier=1");
  AddOwners(c_, 1000, "app=other");
  EXPECT_TRUE(rounds_.Begin(table_, c_, {{"app", "web"}, {"tier", "1"}}));
  EXPECT_EQ(CountRest(), 800u);
  // The labels before and after a change.
  rounds_.Begin(table_, c_, {{"app", "web"}, {"tier", "1"}});
  rounds_.Begin(table_, c_, {{"app", "web"}});
  EXPECT_EQ(CountRest(), 800u);
  rounds_.Begin(table_, c_, {{"app", "db"}});
  EXPECT_EQ(Next(), "c:256");
  rounds_.Begin(table_, c_, {{"app", "web"}});
  EXPECT_EQ(Next(), "c:144");
  EXPECT_EQ(CountRest(), 500u) << "only the second change came during the round";
  rounds_.Begin(table_, c_, {{"app", "db"}});
  rounds_.Begin(c_);
  EXPECT_EQ(CountRest(), 2200u);
}

// Each of them would be looked up.
TEST_F(OwnerRoundsTest, ARoundForAsManyAsThereAreIsForAll) {
  AddOwners(c_, 500);
  AddOwners(c_, 400, "app=web");
  rounds_.Begin(table_, c_, {{"app", "1"}});
  EXPECT_EQ(CountRest(), 500u);
  rounds_.Begin(table_, c_, {{"app", "1"}});
  rounds_.Begin(table_, c_, {{"app", "2"}});
  EXPECT_EQ(CountRest(), 900u);
  rounds_.Begin(table_, c_, {{"app", "1"}});
  EXPECT_EQ(CountRest(), 500u) << "the next round begins anew";
}

TEST_F(OwnerRoundsTest, ARoundAfterLargeLabelsIsForAll) {
  AddOwners(c_, 500, "app=web");
  rounds_.Begin(table_, c_, {{"app", std::string(OwnerRounds::kMostLabelBytes - 3, 'x')}});
  EXPECT_EQ(CountRest(), 0u);
  rounds_.Begin(table_, c_, {{"app", std::string(OwnerRounds::kMostLabelBytes - 2, 'x')}});
  EXPECT_EQ(CountRest(), 500u);
}

TEST_F(OwnerRoundsTest, ARoundAfterManyDifferentChangesIsForAll) {
  AddOwners(c_, 500, "app=web");
  for (size_t i = 0; i < OwnerRounds::kMostLabels; ++i) {
    EXPECT_EQ(rounds_.Begin(table_, c_, {{"app", StrCat(i)}}), i == 0);
  }
  rounds_.Begin(table_, c_, {{"app", "0"}});
  EXPECT_EQ(CountRest(), 0u) << "nobody selects these";
  for (size_t i = 0; i <= OwnerRounds::kMostLabels; ++i)
    rounds_.Begin(table_, c_, {{"app", StrCat(i)}});
  EXPECT_EQ(CountRest(), 500u);
}

}  // namespace
}  // namespace mandate
