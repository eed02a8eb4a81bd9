#include "manager/controller/backlog.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/controller/testing/objects.h"

namespace mandate {
namespace {

class BacklogTest : public testing::Test {
 protected:
  void Push(const std::string& name, bool initial = false) {
    backlog_.Push({0, Added(RawWith(R"("name":")" + name + "\""), initial)});
  }
  std::string Take(size_t most) {
    std::vector<Backlog::Item> items;
    backlog_.Take(most, items);
    std::string names;
    for (const auto& item : items) {
      const auto* event = std::get_if<ObjectEvent>(&item.what);
      names += event != nullptr ? std::string(event->object->name()) : ".";
    }
    return names;
  }

  Backlog backlog_{4};
};

TEST_F(BacklogTest, FirstInFirstOut) {
  EXPECT_TRUE(backlog_.IsEmpty());
  Push("a", /*initial=*/true);
  backlog_.Push({0, Backlog::Listed()});
  Push("b");
  EXPECT_EQ(backlog_.size(), 3u);
  EXPECT_EQ(Take(2), "a.");
  EXPECT_EQ(Take(2), "b");
  EXPECT_EQ(Take(2), "");
  EXPECT_TRUE(backlog_.IsEmpty());
}

TEST_F(BacklogTest, IsFullAtTheBoundAndHasCapacityAtHalfOfIt) {
  for (const char* name : {"a", "b", "c"}) Push(name);
  EXPECT_FALSE(backlog_.IsFull());
  EXPECT_FALSE(backlog_.HasCapacity());
  Push("d");
  EXPECT_TRUE(backlog_.IsFull());
  Push("e");  // it is not refused
  EXPECT_EQ(Take(1), "a");
  EXPECT_TRUE(backlog_.IsFull());
  EXPECT_EQ(Take(2), "bc");
  EXPECT_FALSE(backlog_.IsFull());
  EXPECT_TRUE(backlog_.HasCapacity());
}

TEST_F(BacklogTest, InitialListsDoNotCount) {
  for (int i = 0; i < 10; ++i) Push("a", /*initial=*/true);
  backlog_.Push({0, Backlog::Listed()});
  EXPECT_FALSE(backlog_.IsFull());
  EXPECT_TRUE(backlog_.HasCapacity());
}

TEST_F(BacklogTest, Clear) {
  for (const char* name : {"a", "b", "c", "d"}) Push(name);
  backlog_.Clear();
  EXPECT_TRUE(backlog_.IsEmpty());
  EXPECT_TRUE(backlog_.HasCapacity());
  EXPECT_EQ(Take(1), "");
}

}  // namespace
}  // namespace mandate
