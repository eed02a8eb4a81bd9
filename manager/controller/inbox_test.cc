#include "manager/controller/inbox.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/controller/item_pool.h"
#include "manager/controller/testing/work_item_peer.h"

namespace mandate {
namespace {

using Names = std::vector<std::string>;

class InboxTest : public testing::Test {
 protected:
  bool Push(const std::string& name, int priority = 0) {
    return inbox_.Push({{"ns", name}}, static_cast<uint32_t>(name.size()), priority,
                       absl::FromUnixSeconds(1));
  }
  // What the inbox had; all of it is free again.
  Names Take(size_t room) {
    pool_.Reserve(room);
    std::vector<WorkItem*> taken;
    inbox_.Take(taken, room, pool_.free());
    Names names;
    for (WorkItem* item : taken) {
      const std::string& name = item->request().key.name;
      EXPECT_EQ(WorkItemPeer::hash(*item), name.size());
      EXPECT_EQ(WorkItemPeer::since(*item), 1'000'000'000);
      priorities_.push_back(WorkItemPeer::added_priority(*item));
      names.push_back(name);
      pool_.free().push_back(item);
    }
    return names;
  }

  ItemPool pool_{1000};
  Inbox inbox_;
  std::vector<int> priorities_;
};

TEST_F(InboxTest, GivesOnceWhatWasPushedInOrder) {
  Take(10);
  const std::string long_name(100, 'x');
  EXPECT_TRUE(Push("a"));
  EXPECT_TRUE(Push(long_name, 3));
  EXPECT_TRUE(Push("a", -1));
  EXPECT_EQ(Take(10), (Names{"a", long_name, "a"}));
  EXPECT_EQ(priorities_, (std::vector<int>{0, 3, -1}));
  EXPECT_EQ(Take(10), Names{});
  // Into memory that was used before.
  for (const std::string& name : {std::string("b"), long_name, std::string("c")}) {
    Push(name);
    EXPECT_EQ(Take(10), Names{name});
  }
}

TEST_F(InboxTest, SaysTheHighestPriority) {
  Take(10);
  EXPECT_EQ(inbox_.top(), Inbox::kEmpty);
  Push("a", std::numeric_limits<int>::min());
  EXPECT_EQ(inbox_.top(), std::numeric_limits<int>::min());
  EXPECT_GT(inbox_.top(), Inbox::kEmpty);
  Push("b", 5);
  Push("c", -5);
  EXPECT_EQ(inbox_.top(), 5);
  Take(10);
  EXPECT_EQ(inbox_.top(), Inbox::kEmpty);
}

TEST_F(InboxTest, TakesNoMoreThanItWasGivenRoomFor) {
  EXPECT_FALSE(Push("a"));
  EXPECT_EQ(inbox_.top(), Inbox::kEmpty);
  Take(2);
  EXPECT_TRUE(Push("a"));
  EXPECT_TRUE(Push("b"));
  EXPECT_FALSE(Push("c", 9));
  EXPECT_EQ(inbox_.top(), 0);
  // Room for three in all.
  EXPECT_EQ(Take(3), (Names{"a", "b"}));
  EXPECT_TRUE(Push("c"));
  EXPECT_EQ(Take(3), (Names{"c"}));
  for (const char* name : {"d", "e", "f"}) EXPECT_TRUE(Push(name));
  EXPECT_FALSE(Push("g"));
}

TEST_F(InboxTest, GivesAllItsRoomBackWhenItGetsNone) {
  Take(100);
  Push("a");
  EXPECT_EQ(Take(0), Names{"a"});
  EXPECT_FALSE(Push("b"));
  EXPECT_TRUE(pool_.AllFree());
}

}  // namespace
}  // namespace mandate
