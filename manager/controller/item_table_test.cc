#include "manager/controller/item_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "manager/controller/testing/work_item_peer.h"

namespace mandate {
namespace {

class ItemTableTest : public testing::Test {
 protected:
  static Request Req(const std::string& name) { return {{"ns", name}}; }

  WorkItem& Insert(const std::string& name, uint32_t hash) {
    pool_.Reserve(1);
    WorkItem& item = *pool_.free().back();
    pool_.free().pop_back();
    WorkItemPeer::Set(item, Req(name), hash);
    table_.Insert(item);
    return item;
  }
  void Erase(WorkItem& item) {
    table_.Erase(item);
    pool_.free().push_back(&item);
  }

  ItemPool pool_{100'000};
  ItemTable table_{pool_};
};

TEST_F(ItemTableTest, FindsByHashAndRequest) {
  EXPECT_EQ(table_.Find(Req("a"), 7), nullptr);
  table_.Prefetch(7);
  WorkItem& a = Insert("a", 7);
  WorkItem& b = Insert("b", 7);  // the same hash
  EXPECT_EQ(table_.Find(Req("a"), 7), &a);
  EXPECT_EQ(table_.Find(Req("b"), 7), &b);
  EXPECT_EQ(table_.Find(Req("c"), 7), nullptr);
  EXPECT_EQ(table_.Find(Req("a"), 8), nullptr);
  EXPECT_EQ(table_.size(), 2u);
  Erase(a);
  EXPECT_EQ(table_.Find(Req("a"), 7), nullptr);
  EXPECT_EQ(table_.Find(Req("b"), 7), &b);
}

TEST_F(ItemTableTest, IsEmptyAfterClear) {
  Insert("a", 1);
  table_.Clear();
  EXPECT_EQ(table_.size(), 0u);
  EXPECT_EQ(table_.Find(Req("a"), 1), nullptr);
  WorkItem& b = Insert("b", 2);
  EXPECT_EQ(table_.Find(Req("b"), 2), &b);
}

// Random inserts and erases against a map, with hashes that are well spread, that collide, and that
// lie at the table's end, where places wrap around.
TEST_F(ItemTableTest, AgreesWithAMap) {
  const struct {
    uint32_t base, spread;
  } cases[] = {{0, 0xffffffff}, {5, 1}, {0, 40}, {0xffffffc0, 0x40}, {0x7ffffff0, 3}};
  for (const auto& [base, spread] : cases) {
    std::mt19937 random(1);
    std::map<std::string, WorkItem*> known;
    std::map<std::string, uint32_t> hashes;
    for (int step = 0; step < 20'000; ++step) {
      // In turns it rather grows and rather shrinks.
      const bool growing = step / 2000 % 2 == 0;
      const std::string name = std::to_string(random() % 300);
      if (!hashes.contains(name)) {
        hashes[name] = base + static_cast<uint32_t>(random() % (uint64_t{spread} + 1));
      }
      WorkItem* const found = table_.Find(Req(name), hashes[name]);
      const auto it = known.find(name);
      ASSERT_EQ(found, it == known.end() ? nullptr : it->second);
      if (found == nullptr && (growing || random() % 4 == 0)) {
        known[name] = &Insert(name, hashes[name]);
      } else if (found != nullptr && (!growing || random() % 4 == 0)) {
        Erase(*found);
        known.erase(it);
      }
      ASSERT_EQ(table_.size(), known.size());
    }
    for (const auto& [name, item] : known) {
      ASSERT_EQ(table_.Find(Req(name), hashes[name]), item);
      Erase(*item);
    }
    EXPECT_EQ(table_.size(), 0u);
  }
}

TEST_F(ItemTableTest, GrowsWithAllThatIsInIt) {
  std::mt19937 random(2);
  std::map<std::string, WorkItem*> known;
  for (int i = 0; i < 50'000; ++i) {
    const std::string name = std::to_string(i);
    known[name] = &Insert(name, static_cast<uint32_t>(random()));
  }
  for (const auto& [name, item] : known) {
    ASSERT_EQ(table_.Find(Req(name), WorkItemPeer::hash(*item)), item);
  }
}

}  // namespace
}  // namespace mandate
