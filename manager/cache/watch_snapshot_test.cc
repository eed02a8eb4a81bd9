// What the cache shows of its watches.
#include "manager/cache/watch_snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class WatchSnapshotTest : public SharingFixture {
 protected:
  Cache::Watches Snapshot(size_t most = 100) { return cache_->Snapshot(most); }
  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    for (const WatchSnapshot& entry : Snapshot().entries) {
      lines.push_back(
          StrCat(entry.component, entry.is_sponsor ? "* " : " ",
                 entry.spec.ns.empty() ? "everywhere" : entry.spec.ns, " ", ToString(entry.state),
                 entry.failed ? " failed" : "", " @", entry.version, " objects ", entry.objects,
                 entry.covered_by ? StrCat(" covered by ", entry.covered_by->ToString()) : ""));
    }
    return lines;
  }
};

TEST_F(WatchSnapshotTest, ShowsEachComponentOfEachScope) {
  EXPECT_THAT(Lines(), IsEmpty());
  server_.Grant("a");
  of_a_ = DemandAndSettle(*view_a_);
  of_b_ = DemandAndSettle(*view_b_);
  Demanded foo = DemandAndSettle(*view_a_, "foo");
  EXPECT_THAT(Lines(), ElementsAre("a* everywhere Synced @101 objects 1",
                                   "b everywhere Forbidden failed @101 objects 1",
                                   "a foo Synced @101 objects 1 covered by widgets.example.com"));
  PutAndSettle("bar/y");
  EXPECT_THAT(Lines(), ElementsAre("a* everywhere Synced @102 objects 2",
                                   "b everywhere Forbidden failed @102 objects 2",
                                   "a foo Synced @102 objects 1 covered by widgets.example.com"));
  EXPECT_EQ(Snapshot().entries[1].reason, absl::StatusCode::kPermissionDenied);
  EXPECT_GT(Snapshot().entries[0].bytes, 0u);
  const Cache::Watches of_b = cache_->Snapshot(100, "b");
  ASSERT_EQ(of_b.entries.size(), 1u);
  EXPECT_EQ(of_b.entries[0].component, "b");
  Leave(of_b_);
  Leave(foo);
  EXPECT_THAT(Lines(), ElementsAre("a* everywhere Synced @102 objects 2"));
}

TEST_F(WatchSnapshotTest, TheTimeIsThatOfTheLastChangeOfTheState) {
  GrantBoth();
  of_a_ = DemandAndSettle(*view_a_);
  b_.SetDelay([] { return absl::Seconds(1); });
  const absl::Time demanded = loop_.clock().TimeNow();
  of_b_ = Demand(*view_b_);
  loop_.RunFor(absl::Milliseconds(500));
  const WatchSnapshot waits = Snapshot().entries[1];
  EXPECT_EQ(waits.state, DemandState::kPending);
  EXPECT_EQ(waits.since, demanded);
  loop_.RunFor(absl::Seconds(10));
  const WatchSnapshot proven = Snapshot().entries[1];
  EXPECT_EQ(proven.state, DemandState::kSynced);
  EXPECT_GE(proven.since, demanded + absl::Seconds(1));
  EXPECT_LT(proven.since, demanded + absl::Seconds(5));
  PutAndSettle("foo/y");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Snapshot().entries[1].since, proven.since);
}

TEST_F(WatchSnapshotTest, IsBounded) {
  GrantBoth();
  std::vector<Demanded> demands;
  for (int i = 0; i < 5; ++i) demands.push_back(Demand(*view_a_, StrCat("ns-", i)));
  Settle();
  EXPECT_EQ(Snapshot(3).entries.size(), 3u);
  EXPECT_EQ(Snapshot(3).scopes, 5u);
  EXPECT_FALSE(Snapshot(3).complete);
  EXPECT_TRUE(Snapshot(5).complete);
  EXPECT_EQ(Snapshot(5).entries.size(), 5u);
}

}  // namespace
}  // namespace mandate
