// What a SharedWatch knows of its members' access: hints while the first watch of a scope opens.
// denied_sponsor_test.cc and sharing_test.cc have the other cases.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/cache/testing/widget_objects.h"

namespace mandate {
namespace {

class SharedWatchAccessTest : public CacheFixture {
 protected:
  // The server authorizes a watch now, which it opens when Open() is called.
  void RequestAWatch() {
    view_ = &Add(a_);
    foo_ = Demand(*view_, "foo");
    loop_.RunFor(absl::Minutes(2));
    ASSERT_EQ(foo_.state(), DemandState::kForbidden);
    server_.Grant("a", "foo");
    a_.OnWatch([this](const std::shared_ptr<FakeWatch>& watch) { held_.push_back(watch); });
    cache_->RecheckAccess("", "foo");
    loop_.RunFor(absl::Milliseconds(1200));
    ASSERT_EQ(held_.size(), 1u);
  }
  void Open() {
    held_[0]->Open();
    held_[0]->Send(EventJson("ADDED", WidgetJson("foo/secret", 101)));
    held_[0]->Send(BookmarkJson("101", true));
    loop_.RunReady();
  }

  CacheView* view_ = nullptr;
  Demanded foo_;
  std::vector<std::shared_ptr<FakeWatch>> held_;
};

// Both hints come before the server opens what it has authorized: the watch proves nothing about
// the time after the revocation.
TEST_F(SharedWatchAccessTest, ARevocationBeforeTheWatchOpensIsNoticed) {
  RequestAWatch();
  server_.Revoke("a", "foo");
  loop_.RunFor(absl::Milliseconds(100));
  cache_->RecheckAccess("", "foo");
  loop_.RunFor(absl::Seconds(1));
  cache_->RecheckAccess("", "foo");
  loop_.RunFor(absl::Milliseconds(100));
  foo_.Take();
  a_.SetDelay([] { return absl::Seconds(2); });  // of each way of the review
  Open();
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(foo_.state(), DemandState::kPending);
  EXPECT_NE(view_->GetRaw({}, kWidget, {"foo", "secret"}).status(), absl::OkStatus());
  loop_.RunFor(absl::Seconds(3));
  EXPECT_EQ(foo_.state(), DemandState::kForbidden);
  EXPECT_EQ(foo_.Take(), "Pending Forbidden") << "it was readable at no time";
}

// The hint was about something else.
TEST_F(SharedWatchAccessTest, AReviewProvesWhatTheWatchDoesNot) {
  RequestAWatch();
  loop_.RunFor(absl::Milliseconds(100));
  cache_->RecheckAccess("", "foo");
  loop_.RunFor(absl::Milliseconds(100));
  Open();
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(foo_.state(), DemandState::kSynced);
  EXPECT_EQ(view_->GetRaw({}, kWidget, {"foo", "secret"}).status(), absl::OkStatus());
}

// The server has answered the review before a revocation, too.
TEST_F(SharedWatchAccessTest, ARevocationDuringTheReviewIsNoticed) {
  RequestAWatch();
  loop_.RunFor(absl::Milliseconds(100));
  cache_->RecheckAccess("", "foo");
  foo_.Take();
  a_.SetDelay([] { return absl::Seconds(1); });  // of each way
  Open();
  loop_.RunFor(absl::Milliseconds(1500));
  server_.Revoke("a", "foo");
  cache_->RecheckAccess("", "foo");
  loop_.RunFor(absl::Seconds(5));
  EXPECT_EQ(foo_.state(), DemandState::kForbidden);
  EXPECT_EQ(foo_.Take(), "Pending Forbidden");
}

TEST_F(SharedWatchAccessTest, WithoutAHintTheWatchIsTheProof) {
  RequestAWatch();
  a_.ForgetRequests();
  Open();
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(foo_.state(), DemandState::kSynced);
  EXPECT_EQ(a_.Count(kReviews), 0u);
}

}  // namespace
}  // namespace mandate
