// Several components with one watch: the objects that each component sees, and the time when it
// loses them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/cache/testing/widget_objects.h"

namespace mandate {
namespace {

class SharingTest : public SharingFixture {};

TEST_F(SharingTest, OneWatchServesBoth) {
  JoinBoth();
  EXPECT_EQ(b_.watches().size(), 0u);
  EXPECT_EQ(b_.Count(kReviews), 1u);
  EXPECT_EQ(a_.Count(kReviews), 0u) << "its accepted watch proves its access";
  EXPECT_EQ(*view_a_->GetRaw({}, kWidget, {"foo", "x"}),
            *view_b_->GetRaw({}, kWidget, {"foo", "x"}))
      << "one stored copy";
  PutAndSettle("foo/y");
  EXPECT_EQ(of_a_.Take(), "+foo/y@102");
  EXPECT_EQ(of_b_.Take(), "+foo/y@102");
  b_.ForgetRequests();
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(Reads(*view_b_));
  EXPECT_EQ(b_.requests().size(), 0u) << "a read costs no review";
}

// A watch begins with the objects, so nobody needs the right to list.
TEST_F(SharingTest, TheRightToWatchIsEnough) {
  server_.Grant("a", std::string(kWatchAlone));
  server_.Grant("b", std::string(kWatchAlone));
  of_a_ = DemandAndSettle(*view_a_);
  of_b_ = DemandAndSettle(*view_b_);
  for (int hint = 0; hint < 5; ++hint) RetryAndSettle();
  loop_.RunFor(absl::Minutes(20));
  EXPECT_EQ(of_a_.Take(), "!+foo/x@101 Synced") << "no hint has changed its state";
  EXPECT_EQ(of_b_.Take(), "!+foo/x@101 Synced");
}

TEST_F(SharingTest, AChangeBetweenTwoJoinersReachesTheSecondOnce) {
  GrantBoth();
  view_c_ = &AddGranted(c_);
  b_.SetDelay([] { return absl::Seconds(1); });
  c_.SetDelay([] { return absl::Seconds(3); });
  of_a_ = Demand(*view_a_);
  of_b_ = Demand(*view_b_);
  of_c_ = Demand(*view_c_);
  loop_.RunFor(absl::Seconds(2) + absl::Milliseconds(500));
  EXPECT_EQ(of_b_.Take(), "!+foo/x@101 Synced");
  EXPECT_EQ(of_c_.Take(), "") << "not proven yet";
  server_.Put("foo/y");
  server_.Put("foo/x");
  loop_.RunFor(absl::Seconds(10));
  EXPECT_EQ(of_b_.Take(), "+foo/y@102 ~foo/x@103");
  EXPECT_EQ(of_c_.Take(), "!+foo/x@103 !+foo/y@102 Synced");
}

// Invariant 3.
TEST_F(SharingTest, NoBorrowedRead) {
  server_.Grant("a");
  of_a_ = Demand(*view_a_);
  of_b_ = DemandAndSettle(*view_b_);
  EXPECT_TRUE(Reads(*view_a_)) << "the store holds it";
  EXPECT_EQ(Code(*view_b_), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(view_b_->ListRaw({}, kWidget, "").status().code(), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(of_b_.Take(), "Forbidden");
  const std::string reason(of_b_.handle->status().reason.message());
  EXPECT_NE(reason.find("b may not watch widgets.example.com"), reason.npos) << reason;
  server_.Put("foo/y");
  loop_.RunFor(absl::Hours(1));
  EXPECT_EQ(of_b_.Take(), "") << "it gets no events";
  EXPECT_EQ(of_a_.state(), DemandState::kSynced) << "this concerns b only";
  server_.Grant("b");
  RetryAndSettle("b");
  EXPECT_EQ(of_b_.Take(), "!+foo/x@101 !+foo/y@102 Synced");
}

TEST_F(SharingTest, ReadsAreUnavailableBeforeTheProof) {
  GrantBoth();
  of_a_ = DemandAndSettle(*view_a_);
  b_.SetDelay([] { return absl::Seconds(1); });
  of_b_ = Demand(*view_b_);
  loop_.RunFor(absl::Milliseconds(1900));
  EXPECT_EQ(Code(*view_b_), absl::StatusCode::kUnavailable);
  EXPECT_EQ(of_b_.Take(), "");
  loop_.RunFor(absl::Milliseconds(200));
  EXPECT_TRUE(Reads(*view_b_));
}

TEST_F(SharingTest, ReadsEndWithinTheTimeOfTheProof) {
  JoinBoth();
  server_.Revoke("b");
  server_.Put("foo/y");
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(Code(*view_b_), absl::StatusCode::kPermissionDenied);
  EXPECT_EQ(of_b_.state(), DemandState::kForbidden);
  EXPECT_EQ(of_b_.Take(), "+foo/y@102 purged:2 Forbidden") << "not a delete";
  EXPECT_EQ(of_a_.Take(), "+foo/y@102");
  PutAndSettle("foo/z");
  EXPECT_EQ(of_b_.Take(), "");
}

// All objects come, and not as a new initial list.
TEST_F(SharingTest, AfterARegrantTheSinkGetsAllObjects) {
  JoinBoth();
  PutAndSettle("foo/kept");
  of_b_.Take();
  server_.Revoke("b");
  RetryAndSettle();
  EXPECT_EQ(of_b_.Take(), "purged:2 Forbidden") << "at once, after the hint";
  EXPECT_EQ(Code(*view_b_), absl::StatusCode::kPermissionDenied);
  EXPECT_TRUE(Reads(*view_a_));
  server_.Delete("foo/x");
  server_.Put("foo/new");
  server_.Put("foo/kept");
  server_.Grant("b");
  loop_.RunFor(absl::Minutes(1));
  EXPECT_EQ(of_b_.Take(), "+foo/kept@105 +foo/new@104 Synced");
}

// Two identities: the object stays for the one that may read it.
TEST_F(SharingTest, ObjectsThatNoComponentMayReadLeaveTheMemory) {
  const Labels labels = {{"kind", "widgets.example.com"}, {"scope", "cluster"}};
  JoinBoth();
  const std::weak_ptr<const RawObject> object = *view_a_->GetRaw({}, kWidget, {"foo", "x"});
  server_.Revoke("b");
  RetryAndSettle("b");
  EXPECT_EQ(of_b_.Take(), "purged:1 Forbidden");
  EXPECT_FALSE(object.expired());
  EXPECT_TRUE(Reads(*view_a_));
  EXPECT_EQ(Gauge("mandate_cache_objects", labels), 1);
  server_.Revoke("a");
  RetryAndSettle("a");
  EXPECT_EQ(of_a_.Take(), "purged:1 Forbidden");
  EXPECT_TRUE(object.expired());
  EXPECT_EQ(Gauge("mandate_cache_objects", labels), 0);
  EXPECT_EQ(Gauge("mandate_cache_bytes", labels), 0);
  EXPECT_EQ(
      metrics_.Counter("mandate_cache_purges_total", "", {{"kind", "widgets.example.com"}}).Value(),
      1);
  server_.Delete("foo/x");
  server_.Put("foo/y");
  server_.Grant("a");
  RetryAndSettle("a");
  EXPECT_EQ(of_a_.Take(), "Pending +foo/y@103 Synced");
  EXPECT_EQ(Code(*view_a_), absl::StatusCode::kNotFound);
  EXPECT_EQ(Code(*view_b_), absl::StatusCode::kPermissionDenied);
}

// At once, and not when the server has denied the other one again.
TEST_F(SharingTest, ObjectsLeaveTheMemoryWithTheLastThatMayReadThem) {
  const Labels labels = {{"kind", "widgets.example.com"}, {"scope", "cluster"}};
  server_.Grant("a");
  of_a_ = DemandAndSettle(*view_a_);
  of_b_ = DemandAndSettle(*view_b_);
  ASSERT_EQ(of_b_.state(), DemandState::kForbidden);
  ASSERT_EQ(Gauge("mandate_cache_objects", labels), 1);
  of_a_.handle.reset();
  loop_.RunReady();
  EXPECT_EQ(of_b_.state(), DemandState::kForbidden);
  EXPECT_EQ(Gauge("mandate_cache_objects", labels), 0);
}

TEST_F(SharingTest, AnAnswerIsAsOldAsItsQuestion) {
  GrantBoth();
  of_a_ = DemandAndSettle(*view_a_);
  b_.SetDelay([n = 0]() mutable { return n++ == 0 ? absl::ZeroDuration() : absl::Seconds(1); });
  of_b_ = Demand(*view_b_);
  loop_.RunFor(absl::Milliseconds(500));
  ASSERT_EQ(of_b_.state(), DemandState::kPending) << "the server has said yes; its answer travels";
  server_.Revoke("b");
  const absl::Time listed = loop_.clock().TimeNow();  // by the access observer, after the change
  loop_.RunFor(absl::Seconds(1));
  ASSERT_EQ(of_b_.state(), DemandState::kSynced);
  cache_->RecheckAccess("", "", listed + absl::Milliseconds(100));
  b_.SetDelay(nullptr);
  loop_.RunFor(absl::Seconds(30));
  EXPECT_EQ(of_b_.state(), DemandState::kForbidden);
}

TEST_F(SharingTest, ARevokedComponentLosesItsReadsAtOnce) {
  for (const bool sponsor : {true, false}) {
    SCOPED_TRACE(sponsor ? "the sponsor" : "the other");
    GrantBoth();
    Demanded first = DemandAndSettle(sponsor ? *view_a_ : *view_b_);
    Demanded second = DemandAndSettle(sponsor ? *view_b_ : *view_a_);
    Demanded& of_a = sponsor ? first : second;
    Demanded& of_b = sponsor ? second : first;
    of_a.Take();
    of_b.Take();
    const absl::Status off = absl::FailedPreconditionError("Secret a does not exist");
    EndRequests(a_, off);
    for (const auto& watch : a_.watches()) {
      if (watch->live()) watch->Close(absl::UnauthenticatedError("401"));
    }
    cache_->OnCredentialLost("a", off);
    loop_.RunReady();
    EXPECT_EQ(Code(*view_a_), absl::StatusCode::kUnavailable);
    EXPECT_TRUE(view_a_->ListLastKnown(kWidget, "").size() == 1) << "stale, and not for decisions";
    EXPECT_EQ(of_a.Take(), "Stale");
    const size_t asked = a_.requests().size();
    server_.Put("foo/x");
    loop_.RunFor(absl::Minutes(1));
    EXPECT_EQ(of_a.Take(), "") << "it gets no events either";
    EXPECT_EQ(Code(*view_a_), absl::StatusCode::kUnavailable);
    EXPECT_LT(a_.requests().size() - asked, 40u) << "it retries slowly";
    EXPECT_TRUE(Reads(*view_b_));
    EXPECT_EQ(of_b.state(), DemandState::kSynced);

    server_.Serve(a_);
    RetryAndSettle("a");
    EXPECT_TRUE(Reads(*view_a_));
    EXPECT_THAT(of_a.Take(), testing::MatchesRegex("~foo/x@.* Synced"));
  }
}

TEST_F(SharingTest, ARevokedComponentJoinsAgainByItself) {
  JoinBoth();
  cache_->OnCredentialLost("b", absl::UnauthenticatedError("401"));
  loop_.RunReady();
  EXPECT_EQ(Code(*view_b_), absl::StatusCode::kUnavailable);
  cache_->OnCredentialLost("b", absl::UnauthenticatedError("401"));
  loop_.RunFor(absl::Seconds(5));
  EXPECT_TRUE(Reads(*view_b_)) << "the server has answered its reviews";
  EXPECT_EQ(of_b_.Take(), "Stale Synced");
}

TEST_F(SharingTest, AProofExpiresWithoutAResponse) {
  JoinBoth();
  server_.faults().refuse_review = 1;
  server_.faults().refuse_watch = 1;
  loop_.RunFor(absl::Minutes(5));
  EXPECT_EQ(Code(*view_b_), absl::StatusCode::kUnavailable);
  EXPECT_EQ(of_b_.Take(), "Stale");
  PutAndSettle("foo/y");
  EXPECT_EQ(of_b_.Take(), "") << "not delivered either";
  server_.faults() = {};
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(of_b_.Take(), "+foo/y@102 Synced");
}

TEST_F(SharingTest, AnExpiredProofShowsNoLaterChanges) {
  JoinBoth();
  EndRequests(b_, absl::UnavailableError("connection refused"));
  loop_.RunFor(absl::Minutes(5));
  PutAndSettle("foo/x");
  PutAndSettle("foo/y");
  ASSERT_TRUE(Reads(*view_a_)) << "its watch is open";
  EXPECT_EQ(Text(view_b_->ListLastKnown(kWidget, "")), "foo/x@101");
  server_.Serve(b_);
  loop_.RunFor(absl::Minutes(2));
  EXPECT_EQ(Text(view_b_->ListLastKnown(kWidget, "")), "foo/x@102 foo/y@103");
}

// A hint has shown the denial; the time of the former proof ends later.
TEST_F(SharingTest, ADenialHidesTheLastKnownObjectsForGood) {
  JoinBoth();
  server_.Revoke("b");
  RetryAndSettle("b");
  PutAndSettle("foo/secret");
  EXPECT_FALSE(loop_.RunUntil([&] { return !view_b_->ListLastKnown(kWidget, "").empty(); },
                              absl::Minutes(10)));
}

TEST_F(SharingTest, EachExpiryShowsTheObjectsOfItsOwnTime) {
  JoinBoth();
  for (const char* last_known : {"foo/x@101", "foo/x@102", "foo/x@103"}) {
    EndRequests(b_, absl::UnavailableError("connection refused"));
    loop_.RunFor(absl::Minutes(5));
    EXPECT_EQ(Code(*view_b_), absl::StatusCode::kUnavailable);
    EXPECT_EQ(Text(view_b_->ListLastKnown(kWidget, "")), last_known);
    server_.Serve(b_);
    PutAndSettle("foo/x");
    loop_.RunFor(absl::Minutes(2));
    ASSERT_TRUE(Reads(*view_b_));
  }
}

// Reads change first: a sink that hears of a denial, or of its end, can rely on them.
TEST_F(SharingTest, ReadsAgreeWithTheStateThatASinkIsTold) {
  JoinBoth();
  absl::StatusCode read = absl::StatusCode::kUnknown;
  of_b_.sink->OnCall([&] {
    read = view_b_->GetRaw(NonBlockingContext(), kWidget, {"foo", "x"}).status().code();
  });
  server_.Revoke("b");
  RetryAndSettle("b");
  ASSERT_EQ(of_b_.state(), DemandState::kForbidden);
  EXPECT_EQ(read, absl::StatusCode::kPermissionDenied);
  server_.Grant("b");
  RetryAndSettle("b");
  ASSERT_EQ(of_b_.state(), DemandState::kSynced);
  EXPECT_EQ(read, absl::StatusCode::kOk);
}

TEST_F(SharingTest, AnHeirWithoutAProofKnowsNoObjects) {
  server_.Grant("a");
  of_a_ = DemandAndSettle(*view_a_);
  ASSERT_EQ(of_a_.Take(), "!+foo/x@101 Synced");
  EndRequests(b_, absl::FailedPreconditionError("Secret b does not exist"));
  of_b_ = DemandAndSettle(*view_b_);
  Leave(of_a_);
  EXPECT_EQ(Code(*view_b_), absl::StatusCode::kUnavailable);
  EXPECT_EQ(Text(view_b_->ListLastKnown(kWidget, "")), "");
}

// Access returns, and the list is complete. Then the purge begins that belongs to the denial.
TEST_F(SharingTest, APurgeDuringTheNextTryStartsItAgain) {
  options_.reflector.watch_list = false;
  CreateAndAdd();
  server_.Grant("a");
  of_a_ = DemandAndSettle(*view_a_);
  of_b_ = DemandAndSettle(*view_b_);
  server_.Revoke("a");
  RetryAndSettle("a");
  ASSERT_EQ(of_a_.Take(), "!+foo/x@101 Synced purged:1 Forbidden");
  std::vector<std::shared_ptr<FakeWatch>> held;
  a_.OnWatch([&](const std::shared_ptr<FakeWatch>& watch) { held.push_back(watch); });
  server_.Grant("a");
  RetryAndSettle("a");
  ASSERT_EQ(held.size(), 1u);
  Leave(of_b_);
  for (const auto& watch : held) watch->Open();
  Settle();
  EXPECT_TRUE(Reads(*view_a_)) << Code(*view_a_);
  EXPECT_EQ(of_a_.Take(), "+foo/x@101 Synced");
}

TEST_F(SharingTest, AProofCoversItsScopeOnly) {
  server_.Grant("a");
  server_.Grant("b", "foo");
  server_.Put("bar/x");
  of_a_ = Demand(*view_a_);
  of_b_ = DemandAndSettle(*view_b_, "foo");
  EXPECT_TRUE(Reads(*view_b_));
  EXPECT_EQ(view_b_->GetRaw({}, kWidget, {"bar", "x"}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(of_b_.Take(), "!+foo/x@101 Synced");
}

TEST_F(SharingTest, SendsOnlyWatchesOnceConverged) {
  JoinBoth();
  a_.ForgetRequests();
  b_.ForgetRequests();
  loop_.RunFor(absl::Minutes(3));
  EXPECT_EQ(a_.requests().size() + b_.requests().size(), 0u);
  loop_.RunFor(absl::Hours(2));
  EXPECT_EQ(a_.Count("watch=true"), a_.requests().size());
  EXPECT_EQ(b_.Count("watch=true"), b_.requests().size());
  EXPECT_GE(b_.requests().size(), 24u) << "its renewals";
  EXPECT_EQ(of_a_.Take() + of_b_.Take(), "");
  EXPECT_EQ(server_.live_watches(), 1u);
}

// This holds both for the sponsor, whose watch is still open, and for the other member.
TEST_F(SharingTest, AHintAsksAgainForAnExpiredProof) {
  JoinBoth();
  server_.faults().refuse_review = 1;
  EndWatchesOfBoth();
  loop_.RunFor(absl::Minutes(5) + absl::Seconds(1));
  ASSERT_EQ(a_.live_watches(), 1u);
  server_.faults().refuse_review = 0;
  for (FakeRestClient* client : {&a_, &b_}) client->ForgetRequests();
  for (CacheView* view : {view_a_, view_b_}) {
    ASSERT_EQ(Code(*view), absl::StatusCode::kUnavailable);
  }
  cache_->RecheckAccess();
  loop_.RunReady();
  EXPECT_EQ(a_.Count(kReviews), 1u);
  EXPECT_EQ(b_.Count(kReviews), 1u);
  EXPECT_TRUE(Reads(*view_a_));
  EXPECT_TRUE(Reads(*view_b_));
}

// The one that has proved its access later does not speak for the other.
TEST_F(SharingTest, AReminderConcernsEachMemberByItsOwnProof) {
  JoinBoth();
  loop_.RunFor(absl::Minutes(1));
  server_.Revoke("b");
  const absl::Time listed = loop_.clock().TimeNow();
  CloseWatch(a_);
  Settle();
  ASSERT_EQ(of_a_.state(), DemandState::kSynced);
  ASSERT_EQ(of_b_.state(), DemandState::kSynced);
  a_.ForgetRequests();
  cache_->RecheckAccess("", "", listed);
  Settle();
  EXPECT_EQ(of_b_.state(), DemandState::kForbidden);
  EXPECT_EQ(a_.Count(kReviews), 0u) << "its proof is younger";
}

}  // namespace
}  // namespace mandate
