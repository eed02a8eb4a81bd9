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
    view_ = &Add(a_);
    server_.Grant("a");
    demanded_ = DemandAndSettle(*view_);
    ASSERT_EQ(demanded_.Take(), "!+foo/changed@101 !+foo/deleted@102 !+foo/same@103 Synced");
  }
  void TearDown() override {
    for (const std::string& violation : demanded_.sink->violations()) ADD_FAILURE() << violation;
  }

  CacheView* view_ = nullptr;
  Demanded demanded_;
};

TEST_F(PauseTest, DeliversTheDifferenceAfterResume) {
  demanded_.handle->Pause();
  Settle();
  server_.Put("foo/changed");
  server_.Put("foo/changed");
  server_.Delete("foo/deleted");
  server_.Put("foo/gone-again");
  server_.Delete("foo/gone-again");
  PutAndSettle("foo/new");
  EXPECT_EQ(demanded_.Take(), "");
  EXPECT_EQ(demanded_.state(), DemandState::kSynced);
  EXPECT_TRUE(view_->GetRaw({}, kWidget, {"foo", "new"}).ok()) << "reads go on";
  demanded_.handle->Resume();
  Settle();
  EXPECT_EQ(demanded_.Take(), "~foo/changed@105 -foo/deleted@102 +foo/new@109");
  PutAndSettle("foo/same");
  EXPECT_EQ(demanded_.Take(), "~foo/same@110");
}

TEST_F(PauseTest, DoesNotPauseOtherDemandsOfTheWatch) {
  Demanded other = DemandAndSettle(*view_);
  other.Take();
  demanded_.handle->Pause();
  Settle();
  PutAndSettle("foo/new");
  EXPECT_EQ(other.Take(), "+foo/new@104");
  EXPECT_EQ(demanded_.Take(), "");
}

// The events of the pause and those of the time without access come together.
TEST_F(PauseTest, DeliversStatesDuringAPause) {
  demanded_.handle->Pause();
  Settle();
  server_.Put("foo/new");
  server_.Revoke("a");
  cache_->Poke();
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(demanded_.Take(), "Forbidden");
  server_.Delete("foo/deleted");
  server_.Grant("a");
  cache_->Poke();
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(demanded_.Take(), "Stale Synced");
  demanded_.handle->Resume();
  Settle();
  EXPECT_EQ(demanded_.Take(), "-foo/deleted@102 +foo/new@104");
}

TEST_F(PauseTest, DeliversTheDifferenceOnceAccessReturns) {
  demanded_.handle->Pause();
  Settle();
  server_.Revoke("a");
  cache_->Poke();
  loop_.RunFor(absl::Minutes(10));
  server_.Put("foo/new");
  demanded_.handle->Resume();
  Settle();
  EXPECT_EQ(demanded_.Take(), "Forbidden");
  server_.Grant("a");
  cache_->Poke();
  loop_.RunFor(absl::Minutes(10));
  EXPECT_EQ(demanded_.Take(), "Stale +foo/new@104 Synced");
}

TEST_F(PauseTest, ADemandMayEndDuringItsPause) {
  demanded_.handle->Pause();
  Settle();
  demanded_.handle->Resume();
  demanded_.handle.reset();
  PutAndSettle("foo/new");
  EXPECT_EQ(demanded_.Take(), "");
}

}  // namespace
}  // namespace mandate
