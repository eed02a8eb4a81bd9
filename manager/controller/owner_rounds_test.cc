#include "manager/controller/owner_rounds.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "manager/core/strings.h"

namespace mandate {
namespace {

class OwnerRoundsTest : public testing::Test {
 protected:
  // The next slice, as STREAM:NUMBER_OF_OWNERS.
  std::string Next() {
    const auto slice = rounds_.NextSlice([&](const DemandSpec& of, auto found) {
      for (size_t i = 0; i < owners_[of.ns]; ++i) found({of.ns, StrCat(i)});
    });
    return slice.empty() ? "none" : StrCat(slice[0].key.ns, ":", slice.size());
  }

  std::map<std::string, size_t> owners_ = {{"a", 600}, {"b", 300}};
  const DemandSpec a_ = {{}, "a", ""}, b_ = {{}, "b", ""};
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
  EXPECT_FALSE(rounds_.Begin(b_));
  EXPECT_EQ(Next(), "b:44");
  EXPECT_EQ(Next(), "b:256");
  EXPECT_EQ(Next(), "b:44");
  EXPECT_TRUE(rounds_.empty());
}

TEST_F(OwnerRoundsTest, AStreamThatHasLostItsOwnersEnds) {
  rounds_.Begin(a_);
  owners_["a"] = 0;
  EXPECT_EQ(Next(), "none");
  EXPECT_TRUE(rounds_.empty());
  rounds_.Begin(b_);
  rounds_.Clear();
  EXPECT_TRUE(rounds_.empty());
  EXPECT_TRUE(rounds_.Begin(b_));
}

}  // namespace
}  // namespace mandate
