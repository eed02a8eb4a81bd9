// A server that was restored from a backup: its versions are lower than before.
#include <gtest/gtest.h>

#include <string>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

class RestoredServerTest : public CacheFixture {
 protected:
  // The server has foo/x@101 and foo/y@102; later foo/x@110 and bar/n@111, and no foo/y.
  void Fill() {
    server_.Grant("a");
    if (view_ == nullptr) view_ = &Add(a_);
    foo_ = Demand(*view_, "foo");
    bar_ = Demand(*view_, "bar");
    Settle();
    WriteWhatIsKept(server_);
    while (server_.revision() < 109) server_.Put("baz/x");
    server_.Put("foo/x");
    server_.Put("bar/n");
    server_.Delete("foo/y");
    Settle();
    ASSERT_EQ(Content(), "bar/n@111 foo/x@110");
    foo_.Take();
    bar_.Take();
  }
  static void WriteWhatIsKept(WidgetServer& server) {
    server.Put("foo/x");
    server.Put("foo/y");
  }
  void Restore() {
    WriteWhatIsKept(restored_);
    restored_.Grant("a");
    server_.Restart(absl::Hours(1));
    restored_.Serve(a_);
    loop_.RunFor(absl::Seconds(10));
    ASSERT_EQ(foo_.state(), DemandState::kSynced) << "the server accepts the old version";
    ASSERT_EQ(Content(), "bar/n@111 foo/x@110");
  }
  std::string Content() const {
    std::string text;
    for (const char* ns : {"bar", "foo"}) {
      const auto listed = view_->ListRaw({}, kWidget, ns);
      StrAppend(&text, text.empty() ? "" : " ",
                listed.ok() ? Text(*listed) : absl::StatusCodeToString(listed.status().code()));
    }
    return text;
  }
  double restores() {
    return metrics_.Counter("mandate_cache_server_restores_total", "", {}).Value();
  }

  WidgetServer restored_{loop_, 2};
  CacheView* view_ = nullptr;
  Demanded foo_;
  Demanded bar_;
};

TEST_F(RestoredServerTest, AnyConsistentReadRevealsItToAllWatches) {
  Fill();
  Restore();
  const Demanded baz = DemandAndSettle(*view_, "baz");
  EXPECT_EQ(baz.state(), DemandState::kSynced);
  EXPECT_EQ(Content(), "foo/x@101 foo/y@102");
  EXPECT_EQ(restores(), 1);
  restored_.Put("foo/x");
  restored_.Put("bar/m");
  Settle();
  EXPECT_EQ(Content(), "bar/m@104 foo/x@103 foo/y@102");
  EXPECT_EQ(bar_.Take(), "Stale Stale -bar/n@111 Synced +bar/m@104");
}

// Nothing arrives, not even a bookmark, until the server has passed the old version.
TEST_F(RestoredServerTest, ASilentWatchNoticesIt) {
  Fill();
  Restore();
  restored_.Put("foo/z");
  loop_.RunFor(absl::Minutes(3));
  EXPECT_EQ(Content(), "foo/x@101 foo/y@102 foo/z@103");
  EXPECT_EQ(restores(), 1);
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(restores(), 1);
}

// Then only somebody who has seen another version go back can tell.
TEST_F(RestoredServerTest, ItMayHavePassedTheOldVersion) {
  Fill();
  Restore();
  while (restored_.revision() < 120) restored_.Put("baz/x");
  loop_.RunFor(absl::Minutes(3));
  cache_->ReadAgain();
  Settle();
  EXPECT_EQ(Content(), "foo/x@101 foo/y@102");
  EXPECT_EQ(restores(), 1);
}

// A watch that a wider one keeps has none of its own that could read.
TEST_F(RestoredServerTest, WatchesThatAWiderOneKeeps) {
  options_.close_covered_watch_after = absl::Seconds(1);
  server_.Grant("a");
  view_ = &Add(a_);
  Demanded all = DemandAndSettle(*view_);
  Fill();
  loop_.RunFor(absl::Seconds(5));
  ASSERT_EQ(server_.live_watches(), 1u);
  Restore();
  while (restored_.revision() < 120) restored_.Put("baz/x");
  loop_.RunFor(absl::Minutes(3));
  cache_->ReadAgain();
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(Content(), "foo/x@101 foo/y@102");
  EXPECT_EQ(Text(*view_->ListRaw({}, kWidget, "")), "baz/x@120 foo/x@101 foo/y@102");
  restored_.Put("bar/m");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(Content(), "bar/m@121 foo/x@101 foo/y@102");
  EXPECT_EQ(restored_.live_watches(), 1u);
}

TEST_F(RestoredServerTest, WithoutTheStreamingListToo) {
  options_.reflector.watch_list = false;
  Fill();
  Restore();
  const Demanded baz = DemandAndSettle(*view_, "baz");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(Content(), "foo/x@101 foo/y@102");
  EXPECT_EQ(restores(), 1);
}

// A denied watch has nothing to read again.
TEST_F(RestoredServerTest, ADeniedWatchStaysDenied) {
  Fill();
  server_.Revoke("a");
  cache_->RecheckAccess();
  Settle();
  ASSERT_EQ(foo_.state(), DemandState::kForbidden);
  foo_.Take();
  cache_->ReadAgain();
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(foo_.Take(), "");
}

}  // namespace
}  // namespace mandate
