// Waiting until the view has caught up with a write. In the simulation the waiting thread runs the
// loop meanwhile.
#include <gtest/gtest.h>

#include "manager/cache/cache_impl.h"
#include "manager/cache/testing/cache_fixture.h"

namespace mandate {
namespace {

class ReadYourWritesTest : public CacheFixture {
 protected:
  void SetUp() override {
    server_.Grant("a");
    server_.Put("foo/x");
    view_ = &Add(a_);
    server_.faults().delay = absl::Seconds(2);
  }
  CallContext Within(absl::Duration time) {
    return {.deadline = loop_.clock().TimeNow() + time, .stop = {}};
  }
  absl::Status Seen(int version, absl::Duration within = absl::Seconds(10)) {
    return view_->WaitUntilSeen(Within(within), kWidget, std::to_string(version));
  }
  absl::Status ObjectSeen(const char* name, int version,
                          absl::Duration within = absl::Seconds(10)) {
    return view_->WaitUntilObjectSeen(Within(within), kWidget, {"foo", name},
                                      std::to_string(version));
  }
  absl::Status Gone(const char* name, std::string_view uid,
                    absl::Duration within = absl::Seconds(10)) {
    return view_->WaitUntilGone(Within(within), kWidget, {"foo", name}, uid);
  }

  CacheView* view_ = nullptr;
};

TEST_F(ReadYourWritesTest, AReadSeesTheWrite) {
  Demanded demand = Demand(*view_);
  loop_.RunFor(absl::Seconds(10));
  for (int round = 0; round < 20; ++round) {
    const int version = server_.Put("foo/x");
    EXPECT_TRUE(Seen(version).ok());
    auto read = view_->GetRaw(kWidget, {"foo", "x"});
    ASSERT_TRUE(read.ok());
    EXPECT_EQ((*read)->resource_version(), std::to_string(version));
    const int next = server_.Put("foo/y");
    EXPECT_TRUE(ObjectSeen("y", next).ok());
    EXPECT_EQ((*view_->GetRaw(kWidget, {"foo", "y"}))->resource_version(), std::to_string(next));
  }
  const absl::Time before = loop_.clock().TimeNow();
  EXPECT_TRUE(Seen(server_.revision()).ok());
  EXPECT_EQ(loop_.clock().TimeNow(), before) << "known already";
}

TEST_F(ReadYourWritesTest, NumbersAreCompared) {
  Demanded demand = Demand(*view_);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_TRUE(Seen(99).ok()) << "although \"99\" sorts after \"101\"";
  EXPECT_EQ(Seen(1000).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_EQ(view_->WaitUntilSeen({}, kWidget, "abc").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(view_->WaitUntilObjectSeen({}, kWidget, {"foo", "x"}, "").code(),
            absl::StatusCode::kInvalidArgument);
}

TEST_F(ReadYourWritesTest, ABookmarkCountsToo) {
  Demanded demand = Demand(*view_, "foo");
  loop_.RunFor(absl::Seconds(10));
  const int version = server_.Put("bar/x");
  const absl::Time before = loop_.clock().TimeNow();
  EXPECT_TRUE(Seen(version, absl::Minutes(2)).ok());
  EXPECT_LE(loop_.clock().TimeNow() - before, absl::Seconds(61));
}

TEST_F(ReadYourWritesTest, EveryNamespaceMustHaveSeenIt) {
  Demanded foo = Demand(*view_, "foo");
  Demanded bar = Demand(*view_, "bar");
  loop_.RunFor(absl::Seconds(10));
  const int version = server_.Put("foo/y");
  EXPECT_TRUE(ObjectSeen("y", version).ok()) << "its own watch is enough";
  EXPECT_EQ(Seen(version).code(), absl::StatusCode::kDeadlineExceeded)
      << "bar's is quiet until its bookmark";
  EXPECT_TRUE(Seen(version, absl::Minutes(2)).ok());
}

TEST_F(ReadYourWritesTest, TheObjectItselfIsEnough) {
  Demanded demand = Demand(*view_);
  loop_.RunFor(absl::Seconds(10));
  EXPECT_TRUE(ObjectSeen("x", 101).ok());
  EXPECT_EQ(ObjectSeen("x", 102).code(), absl::StatusCode::kDeadlineExceeded);
}

TEST_F(ReadYourWritesTest, ADeletionIsWaitedFor) {
  Demanded demand = Demand(*view_);
  loop_.RunFor(absl::Seconds(10));
  const std::string uid((*view_->GetRaw(kWidget, {"foo", "x"}))->uid());
  EXPECT_EQ(Gone("x", uid).code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(Gone("x", "another").ok());
  EXPECT_TRUE(Gone("never", "there").ok());
  server_.Delete("foo/x");
  EXPECT_TRUE(Gone("x", uid).ok());
  // Also when another object has its name already.
  server_.Put("foo/x");
  loop_.RunFor(absl::Seconds(10));
  const std::string second((*view_->GetRaw(kWidget, {"foo", "x"}))->uid());
  server_.Delete("foo/x");
  server_.Put("foo/x");
  EXPECT_TRUE(Gone("x", second).ok());
  EXPECT_NE((*view_->GetRaw(kWidget, {"foo", "x"}))->uid(), second);
}

TEST_F(ReadYourWritesTest, WithoutADemandThereIsNothingToWaitFor) {
  EXPECT_EQ(Seen(1).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(ObjectSeen("x", 1).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Gone("x", "u").code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ReadYourWritesTest, WaitsThroughTheFirstListAndThroughStaleness) {
  Demanded demand = Demand(*view_);
  EXPECT_TRUE(Seen(101).ok()) << "not synced yet when it began";
  server_.faults().cut = 1;
  const int version = server_.Put("foo/y");
  loop_.PostAt(loop_.clock().TimeNow() + absl::Seconds(5), [this] { server_.faults() = {}; });
  EXPECT_TRUE(Seen(version, absl::Minutes(2)).ok());
}

TEST_F(ReadYourWritesTest, ARevocationEndsTheWait) {
  Demanded demand = Demand(*view_);
  loop_.RunFor(absl::Seconds(10));
  server_.Revoke("a");
  loop_.PostAt(loop_.clock().TimeNow() + absl::Seconds(5), [this] { cache_->Poke(); });
  EXPECT_EQ(Seen(1000, absl::Minutes(2)).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(ObjectSeen("x", 1000).code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(Gone("x", "u").code(), absl::StatusCode::kPermissionDenied);
}

TEST_F(ReadYourWritesTest, TheCachesEndEndsTheWait) {
  Demanded demand = Demand(*view_);
  loop_.RunFor(absl::Seconds(10));
  std::stop_source stop;
  loop_.PostAt(loop_.clock().TimeNow() + absl::Seconds(5), [&] { stop.request_stop(); });
  CallContext context = Within(absl::Minutes(2));
  context.stop = stop.get_token();
  EXPECT_EQ(view_->WaitUntilSeen(context, kWidget, "1000").code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace mandate
