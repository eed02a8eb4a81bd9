// A sink that cannot keep up pauses its demand. Meanwhile no event comes; afterwards the
// differences come.
#include <gtest/gtest.h>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"

namespace mandate {
namespace {

class PauseTest : public CacheFixture {
 protected:
  void SetUp() override {
    server_.Put("foo/changed");
    server_.Put("foo/deleted");
    server_.Put("foo/same");
    view_ = &AddGranted(a_);
    demanded_ = DemandAndSettle(*view_);
    ASSERT_EQ(demanded_.Take(), "!+foo/changed@101 !+foo/deleted@102 !+foo/same@103 Synced");
  }
  void PauseAndSettle() {
    demanded_.handle->Pause();
    Settle();
  }
  void ResumeAndSettle() {
    demanded_.handle->Resume();
    Settle();
  }

  CacheView* view_ = nullptr;
  Demanded demanded_;
};

TEST_F(PauseTest, DeliversTheDifferenceAfterResume) {
  PauseAndSettle();
  server_.Put("foo/changed");
  server_.Put("foo/changed");
  server_.Delete("foo/deleted");
  server_.Put("foo/gone-again");
  server_.Delete("foo/gone-again");
  PutAndSettle("foo/new");
  EXPECT_EQ(demanded_.Take(), "");
  EXPECT_EQ(demanded_.state(), DemandState::kSynced);
  EXPECT_TRUE(view_->GetRaw({}, kWidget, {"foo", "new"}).ok()) << "reads go on";
  ResumeAndSettle();
  EXPECT_EQ(demanded_.Take(), "~foo/changed@105 -foo/deleted@102 +foo/new@109");
  PutAndSettle("foo/same");
  EXPECT_EQ(demanded_.Take(), "~foo/same@110");
}

TEST_F(PauseTest, DoesNotPauseOtherDemandsOfTheWatch) {
  Demanded other = DemandAndSettle(*view_);
  other.Take();
  PauseAndSettle();
  PutAndSettle("foo/new");
  EXPECT_EQ(other.Take(), "+foo/new@104");
  EXPECT_EQ(demanded_.Take(), "");
}

// The purge includes the objects that were delivered before the pause.
TEST_F(PauseTest, DeliversStatesDuringAPause) {
  PauseAndSettle();
  server_.Put("foo/new");
  server_.Revoke("a");
  RetryAndSettle();
  EXPECT_EQ(demanded_.Take(), "purged:3 Forbidden");
  server_.Delete("foo/deleted");
  server_.Grant("a");
  RetryAndSettle();
  EXPECT_EQ(demanded_.Take(), "Pending Synced");
  ResumeAndSettle();
  EXPECT_EQ(demanded_.Take(), "+foo/changed@101 +foo/new@104 +foo/same@103");
}

TEST_F(PauseTest, APausedDemandIsNotForbiddenWhenItsAccessHasReturned) {
  // b joins a's watch, so its access is proved by reviews.
  Demanded other = Demand(Add(b_));
  other.handle->Pause();
  Settle();
  EXPECT_EQ(other.Take(), "Forbidden");
  server_.Grant("b");
  RetryAndSettle("b");
  EXPECT_EQ(other.Take(), "Pending") << "nothing is delivered yet";
  EXPECT_EQ(other.state(), DemandState::kPending);
  other.handle->Resume();
  Settle();
  EXPECT_EQ(other.Take(), "!+foo/changed@101 !+foo/deleted@102 !+foo/same@103 Synced");
}

TEST_F(PauseTest, DeliversAllObjectsOnceAccessReturns) {
  PauseAndSettle();
  server_.Revoke("a");
  RetryAndSettle();
  server_.Put("foo/new");
  ResumeAndSettle();
  EXPECT_EQ(demanded_.Take(), "purged:3 Forbidden");
  server_.Grant("a");
  RetryAndSettle();
  EXPECT_EQ(demanded_.Take(),
            "Pending +foo/changed@101 +foo/deleted@102 +foo/new@104 +foo/same@103 Synced");
}

TEST_F(PauseTest, ADemandMayEndDuringItsPause) {
  PauseAndSettle();
  demanded_.handle->Resume();
  demanded_.handle.reset();
  PutAndSettle("foo/new");
  EXPECT_EQ(demanded_.Take(), "");
}

}  // namespace
}  // namespace mandate
