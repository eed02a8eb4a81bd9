// A reflector watches, continues and ends. A test that exists in client-go has the same name.
#include "manager/cache/reflector.h"

#include <gtest/gtest.h>

#include <set>

#include "manager/cache/testing/reflector_fixture.h"

namespace mandate {
namespace {

class ReflectorTest : public ReflectorFixture {};

TEST_F(ReflectorTest, ResourceVersionUpdate) {
  StartSynced(10);
  const std::pair<std::string, const char*> steps[] = {
      {EventJson("ADDED", WidgetJson("a/x", 11)), "11"},
      {EventJson("MODIFIED", WidgetJson("a/x", 12)), "12"},
      {BookmarkJson("15"), "15"},
      {EventJson("DELETED", WidgetJson("a/x", 16)), "16"},
  };
  for (const auto& [frame, version] : steps) {
    const int progress = progress_;
    Send(frame);
    EXPECT_EQ(store_.resource_version(), version);
    EXPECT_GT(progress_, progress);
  }
  EXPECT_EQ(TakeEvents(), "+a/x@11 ~a/x@12 -a/x@16");
  Close();
  EXPECT_EQ(LastQuery("resourceVersion"), "16") << "resumed from there";
  EXPECT_EQ(LastQuery("watch"), "true");
}

// A watch from any version begins with the existing objects, in no order.
TEST_F(ReflectorTest, VersionsOfUnorderedAddsAreNotPublished) {
  StartWithList(200, ListJson("", {}));
  EXPECT_EQ(LastQuery("resourceVersion"), "");
  LastWatch().Open();
  Send(EventJson("ADDED", WidgetJson("a/x", 11)) + EventJson("ADDED", WidgetJson("a/y", 9)));
  EXPECT_EQ(store_.resource_version(), "");
  Send(EventJson("MODIFIED", WidgetJson("a/y", 12)));
  EXPECT_EQ(store_.resource_version(), "12");
}

TEST_F(ReflectorTest, OpensAnEndedWatchAgainAtOnce) {
  StartSynced(10);
  for (const absl::Status& end :
       {absl::OkStatus(), absl::UnavailableError("reset"), absl::DeadlineExceededError("slow")}) {
    SCOPED_TRACE(end.ToString());
    loop_.RunFor(absl::Seconds(2));
    const absl::Time before = loop_.clock().TimeNow();
    const size_t requests = client_.requests().size();
    Close(end);
    EXPECT_EQ(client_.requests().size(), requests + 1);
    EXPECT_EQ(LastQuery("resourceVersion"), "10");
    EXPECT_EQ(loop_.clock().TimeNow(), before);
    EXPECT_EQ(state(), DemandState::kSynced);
    Open();
  }
  EXPECT_EQ(TakeStates(), "Synced") << "it has been so all the time";
  EXPECT_EQ(lists(), 1u);
}

TEST_F(ReflectorTest, IsStaleWhileAWatchReopensSlowly) {
  StartSynced(10);
  loop_.RunFor(absl::Seconds(2));
  LastWatch().Close();
  loop_.RunFor(absl::Seconds(9));
  EXPECT_EQ(state(), DemandState::kSynced);
  loop_.RunFor(absl::Seconds(2));
  EXPECT_EQ(state(), DemandState::kStale);
  Open();
  EXPECT_EQ(state(), DemandState::kSynced);
}

TEST_F(ReflectorTest, WatchTimeout) {
  std::set<int> seen;
  options_.max_watch_silence = absl::InfiniteDuration();
  StartSynced(10);
  for (int i = 0; i < 50; ++i) {
    const int seconds = std::stoi(LastQuery("timeoutSeconds"));
    EXPECT_GE(seconds, 300);
    EXPECT_LT(seconds, 600);
    seen.insert(seconds);
    CloseAfterTwoSeconds();
    LastWatch().Open();
  }
  EXPECT_GT(seen.size(), 30u) << "spread out";
  // If the server does not end the watch, the guard does so 30 s later, and a new watch continues.
  loop_.RunReady();
  FakeWatch& dead = LastWatch();
  const int seconds = std::stoi(LastQuery("timeoutSeconds"));
  const absl::Duration after = TimeToRequest();
  EXPECT_GE(after, absl::Seconds(seconds + 30));
  EXPECT_LE(after, absl::Seconds(seconds + 31));
  EXPECT_TRUE(dead.cancelled());
  EXPECT_EQ(LastQuery("watch"), "true");
  EXPECT_EQ(state(), DemandState::kSynced);
}

// The connection is alive, and the stream is stuck, as in a proxy.
TEST_F(ReflectorTest, ReplacesASilentWatch) {
  FakeWatch& stuck = StartSynced(10);
  // As API servers do.
  for (int minute = 1; minute <= 2; ++minute) {
    loop_.RunFor(absl::Minutes(1));
    Send(BookmarkJson(StrCat(10 + minute)));
  }
  loop_.RunFor(absl::Seconds(149));
  EXPECT_EQ(watches(), 1u);
  loop_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(stuck.cancelled());
  EXPECT_EQ(state(), DemandState::kStale) << "this server sends bookmarks";
  EXPECT_EQ(failures_, 2) << "nor is the list answered";
  // A list shows that the server answers; an open watch would not show it.
  EXPECT_EQ(lists(), 2u);
  EXPECT_EQ(watches(), 1u);
  AddList(200, ListJson("13", {WidgetJson("a/missed", 13)}));
  EXPECT_TRUE(loop_.RunUntil([&] { return watches() == 2; }));
  EXPECT_EQ(state(), DemandState::kStale);
  EXPECT_EQ(LastQuery("resourceVersion"), "13");
  Open();
  EXPECT_EQ(state(), DemandState::kSynced);
  EXPECT_NE(TakeEvents().find("a/missed"), std::string::npos);
}

TEST_F(ReflectorTest, CountsTheEndOfTheInitialStateAsABookmark) {
  StartAndOpen();
  Send(BookmarkJson("10", /*initial_events_end=*/true));
  EXPECT_EQ(state(), DemandState::kSynced);
  loop_.RunFor(absl::Seconds(151));
  ASSERT_EQ(watches(), 2u);
  EXPECT_EQ(LastQuery("sendInitialEvents"), "true");
  // The next watch is stuck as well.
  LastWatch().Open();
  loop_.RunFor(absl::Seconds(9));
  EXPECT_EQ(state(), DemandState::kStale);
  Send(BookmarkJson("10", /*initial_events_end=*/true));
  EXPECT_EQ(state(), DemandState::kSynced);
}

TEST_F(ReflectorTest, StaysSyncedWithASilentServerWithoutBookmarks) {
  StartSynced(10);
  loop_.RunFor(absl::Seconds(151));
  EXPECT_EQ(watches(), 2u);
  EXPECT_EQ(state(), DemandState::kSynced);
  EXPECT_EQ(failures_, 0);
}

// As in client-go. Other invalid events: reflector_invalid_test.cc.
TEST_F(ReflectorTest, UnknownTypesOfEventsAreSkipped) {
  StartSynced(10);
  Send(EventJson("SURPRISE", WidgetJson("a/x", 11)) + EventJson("ADDED", WidgetJson("a/y", 12)));
  EXPECT_EQ(TakeEvents(), "+a/y@12");
  EXPECT_EQ(state(), DemandState::kSynced);
  EXPECT_EQ(Metric("mandate_cache_undecodable_total"), 1);
}

TEST_F(ReflectorTest, RelistsAfterATooLargeFrame) {
  options_.max_frame_bytes = 1000;
  FakeWatch& watch = StartSynced(10);
  Send(EventJson("ADDED", WidgetJson("a/x", 11)) + std::string(2000, 'x'));
  EXPECT_EQ(TakeEvents(), "+a/x@11") << "what came before it counts";
  EXPECT_TRUE(watch.cancelled());
  EXPECT_EQ(state(), DemandState::kStale);
  TimeToRequest();
  EXPECT_EQ(lists(), 2u);
  EXPECT_EQ(Metric("mandate_cache_overflows_total"), 1);
}

TEST_F(ReflectorTest, RelistsAfterATooLongQueue) {
  options_.max_frame_bytes = 1000;
  options_.max_queue_bytes = 5000;
  FakeWatch& watch = StartSynced(10);
  std::string burst;
  for (int i = 0; i < 100; ++i) {
    burst += EventJson("ADDED", WidgetJson(StrCat("a/x", i), 11 + i));
  }
  Send(burst);
  EXPECT_TRUE(watch.cancelled());
  EXPECT_EQ(Metric("mandate_cache_overflows_total"), 1);
  TimeToRequest();
  EXPECT_EQ(lists(), 2u);
}

TEST_F(ReflectorTest, ALongWatchDoesNotFillItsQueue) {
  options_.max_queue_bytes = 5000;
  options_.max_frame_bytes = 1000;
  StartSynced(10);
  for (int i = 0; i < 5000; ++i) Send(EventJson("ADDED", WidgetJson("a/x", 11 + i)));
  EXPECT_EQ(state(), DemandState::kSynced);
  EXPECT_EQ(Text(store_.List()), "a/x@5010");
}

TEST_F(ReflectorTest, CountsItsObjects) {
  StartSynced(10, {WidgetJson("a/x", 5), WidgetJson("a/y", 6)});
  Send(EventJson("DELETED", WidgetJson("a/x", 11)));
  EXPECT_EQ(Metric("mandate_cache_objects"), 1);
  EXPECT_EQ(Metric("mandate_cache_bytes"), static_cast<double>(store_.bytes().stored));
  EXPECT_EQ(Metric("mandate_cache_events_total"), 1);
  reflector_.reset();
  EXPECT_EQ(Metric("mandate_cache_objects"), 0);
  EXPECT_EQ(Metric("mandate_cache_bytes"), 0);
}

// In every phase, no task uses the reflector afterwards.
TEST_F(ReflectorTest, MayBeDestroyedAtAnyMoment) {
  for (int steps = 0; steps < 60; ++steps) {
    options_.watch_list = steps % 2 == 0;
    client_.OnWatch([this](const std::shared_ptr<FakeWatch>& watch) {
      watch->Open();
      watch->Send(EventJson("ADDED", WidgetJson("a/x", 11)) + BookmarkJson("12", true));
      watch->Send(ErrorJson(410, "Expired"));
      AddList(200, ListJson("20", {}));
    });
    AddList(200, ListJson("10", {}));
    StartWithoutTurns();
    int left = steps;
    loop_.RunUntil([&] { return left-- == 0; }, absl::Minutes(1));
    reflector_.reset();
    const size_t requests = client_.requests().size();
    loop_.RunFor(absl::Minutes(20));
    ASSERT_EQ(client_.requests().size(), requests) << "after " << steps << " steps";
    ASSERT_EQ(client_.live_watches(), 0u);
    store_.Replace({}, "");
  }
}

TEST_F(ReflectorTest, AWatchThatContinuesAnotherOneWaitsForItsTurn) {
  Make();
  reflector_->StartFrom("7");
  EXPECT_EQ(client_.watches().size(), 0u) << "never inside the call";
  loop_.RunReady();
  ASSERT_EQ(client_.watches().size(), 1u);
  EXPECT_EQ(LastWatch().Query("resourceVersion"), "7");
  EXPECT_EQ(LastWatch().Query("sendInitialEvents"), "");
}

// A watch from no version would begin now, and miss what is there.
TEST_F(ReflectorTest, ALossWhileItWaitsForItsTurnMakesItListAgain) {
  Make();
  reflector_->StartFrom("7");
  store_.Replace({}, "");
  reflector_->OnPurged();
  loop_.RunReady();
  ASSERT_EQ(client_.watches().size(), 1u);
  EXPECT_EQ(LastWatch().Query("sendInitialEvents"), "true");
}

}  // namespace
}  // namespace mandate
