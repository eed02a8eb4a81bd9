#include "manager/telemetry/expiring_cache.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

const absl::Time kStart = absl::UnixEpoch();
constexpr absl::Duration kSecond = absl::Seconds(1);

TEST(ExpiringCacheTest, ExpiresAtTheGivenTime) {
  ExpiringCache<int> cache(10);
  EXPECT_EQ(cache.Find("a", kStart), nullptr);
  cache.Put("a", 1, kStart + kSecond);
  ASSERT_NE(cache.Find("a", kStart), nullptr);
  EXPECT_EQ(*cache.Find("a", kStart), 1);
  EXPECT_EQ(cache.Find("a", kStart + kSecond), nullptr);
  EXPECT_EQ(cache.size(), 0u);
}

TEST(ExpiringCacheTest, PutReplacesAnEntry) {
  ExpiringCache<int> cache(10);
  cache.Put("a", 1, kStart + kSecond);
  cache.Put("a", 2, kStart + 2 * kSecond);
  EXPECT_EQ(cache.size(), 1u);
  EXPECT_EQ(*cache.Find("a", kStart + kSecond), 2);
}

TEST(ExpiringCacheTest, EvictsTheLeastRecentlyUsedEntry) {
  ExpiringCache<int> cache(2);
  cache.Put("a", 1, absl::InfiniteFuture());
  cache.Put("b", 2, absl::InfiniteFuture());
  cache.Find("a", kStart);
  cache.Put("c", 3, absl::InfiniteFuture());
  EXPECT_EQ(cache.size(), 2u);
  EXPECT_EQ(cache.Find("b", kStart), nullptr);
  EXPECT_EQ(*cache.Find("a", kStart), 1);
  EXPECT_EQ(*cache.Find("c", kStart), 3);
}

TEST(ExpiringCacheTest, HoldsNothingWithoutCapacity) {
  ExpiringCache<int> cache(0);
  cache.Put("a", 1, absl::InfiniteFuture());
  EXPECT_EQ(cache.size(), 0u);
}

}  // namespace
}  // namespace mandate
