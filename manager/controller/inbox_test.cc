#include "manager/controller/inbox.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace mandate {
namespace {

using Names = std::vector<std::string>;

class InboxTest : public testing::Test {
 protected:
  static bool Push(Inbox& inbox, const std::string& name, int priority = 0) {
    return inbox.Push({{"ns", name}}, name.size(), priority, absl::FromUnixSeconds(1));
  }
  // What the inbox had; it takes `room` less that from now on.
  Names Take(Inbox& inbox, size_t room) {
    room_ = inbox.Take(taken_, room);
    Names names;
    for (size_t i = 0; i < taken_.count; ++i) {
      const Inbox::Entry& entry = taken_.entries[i];
      EXPECT_EQ(entry.hash, entry.request.key.name.size());
      EXPECT_EQ(entry.at, absl::FromUnixSeconds(1));
      names.push_back(entry.request.key.name);
    }
    return names;
  }

  Inbox::Entries taken_;
  size_t room_ = 0;
};

TEST_F(InboxTest, GivesOnceWhatWasPushedInOrder) {
  Inbox inbox(10);
  const std::string long_name(100, 'x');
  for (const std::string& name : {std::string("a"), long_name, std::string("a")}) {
    EXPECT_TRUE(Push(inbox, name));
  }
  EXPECT_EQ(Take(inbox, 10), (Names{"a", long_name, "a"}));
  EXPECT_EQ(Take(inbox, 10), Names{});
  // Into memory that was used before.
  Push(inbox, "b");
  EXPECT_EQ(Take(inbox, 10), Names{"b"});
  Push(inbox, "c");
  EXPECT_EQ(Take(inbox, 10), Names{"c"});
}

TEST_F(InboxTest, SaysTheHighestPriority) {
  Inbox inbox(10);
  EXPECT_EQ(inbox.top(), Inbox::kEmpty);
  Push(inbox, "a", std::numeric_limits<int>::min());
  EXPECT_EQ(inbox.top(), std::numeric_limits<int>::min());
  EXPECT_GT(inbox.top(), Inbox::kEmpty);
  Push(inbox, "b", 5);
  Push(inbox, "c", -5);
  EXPECT_EQ(inbox.top(), 5);
  Take(inbox, 10);
  EXPECT_EQ(inbox.top(), Inbox::kEmpty);
}

TEST_F(InboxTest, TakesNoMoreThanThereIsRoomFor) {
  Inbox inbox(2);
  EXPECT_TRUE(Push(inbox, "a"));
  EXPECT_TRUE(Push(inbox, "b"));
  EXPECT_FALSE(Push(inbox, "c"));
  EXPECT_EQ(Take(inbox, 3), (Names{"a", "b"}));
  EXPECT_EQ(room_, 1u);
  EXPECT_TRUE(Push(inbox, "c"));
  EXPECT_FALSE(Push(inbox, "d"));
  EXPECT_EQ(Take(inbox, 0), Names{"c"});
  EXPECT_EQ(room_, 0u);
  EXPECT_FALSE(Push(inbox, "d"));
  Take(inbox, Inbox::kMaxEntries + 10);
  EXPECT_EQ(room_, Inbox::kMaxEntries);
}

}  // namespace
}  // namespace mandate
