#include "manager/controller/item_pool.h"

#include <gtest/gtest.h>

#include <set>

#include "manager/controller/testing/work_item_peer.h"

namespace mandate {
namespace {

TEST(ItemPoolTest, MakesWhatIsAskedForUpToItsLimit) {
  for (const size_t max_items : {1u, 31u, 32u, 33u, 1000u}) {
    ItemPool pool(max_items);
    EXPECT_EQ(pool.made(), 0u);
    pool.Reserve(1);
    EXPECT_GE(pool.free().size(), 1u);
    pool.Reserve(5000);
    EXPECT_EQ(pool.made(), max_items);
    const std::set<WorkItem*> distinct(pool.free().begin(), pool.free().end());
    EXPECT_EQ(distinct.size(), max_items);
    for (const WorkItem* item : distinct) EXPECT_EQ(&pool[WorkItemPeer::index(*item)], item);
  }
}

TEST(ItemPoolTest, MakesNoneWhileEnoughAreFree) {
  ItemPool pool(1000);
  pool.Reserve(10);
  const size_t made = pool.made();
  WorkItem* taken = pool.free().back();
  pool.free().pop_back();
  EXPECT_FALSE(pool.AllFree());
  pool.free().push_back(taken);
  EXPECT_TRUE(pool.AllFree());
  pool.Reserve(made);
  EXPECT_EQ(pool.made(), made);
}

TEST(ItemPoolTest, StartsAnewAfterClear) {
  ItemPool pool(100);
  pool.Reserve(100);
  pool.Clear();
  EXPECT_EQ(pool.made(), 0u);
  EXPECT_TRUE(pool.free().empty());
  pool.Reserve(100);
  EXPECT_EQ(pool.free().size(), 100u);
}

}  // namespace
}  // namespace mandate
