// A reflector gets the whole state by a watch or by a list, once and again. A test that exists in
// client-go has the same name.
#include <gtest/gtest.h>

#include <string>

#include "manager/cache/testing/reflector_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

class ReflectorListTest : public ReflectorFixture {
 protected:
  // Until the reflector requests the whole state again.
  void Expire() {
    Send(ErrorJson(410, "Expired"));
    TimeToRequest();
  }
};

TEST_F(ReflectorListTest, WatchList) {
  Start();
  ASSERT_EQ(watches(), 1u);
  FakeWatch& watch = LastWatch();
  EXPECT_TRUE(watch.request().target.starts_with("/apis/example.com/v1/widgets?watch=true"));
  EXPECT_EQ(watch.Query("sendInitialEvents"), "true");
  EXPECT_EQ(watch.Query("resourceVersionMatch"), "NotOlderThan");
  EXPECT_EQ(watch.Query("allowWatchBookmarks"), "true");
  EXPECT_EQ(watch.Query("resourceVersion"), "");
  EXPECT_EQ(watch.request().accept, "application/json");

  watch.Open();
  Send(EventJson("ADDED", WidgetJson("b/x", 7)) + EventJson("ADDED", WidgetJson("a/x", 5)));
  EXPECT_EQ(accesses_, 1);
  EXPECT_EQ(store_.size(), 0u) << "not before it is complete";
  EXPECT_EQ(state(), DemandState::kPending);

  Send(BookmarkJson("9") + BookmarkJson("10", true));
  EXPECT_EQ(TakeEvents(), "+a/x@5 +b/x@7");
  EXPECT_EQ(TakeStates(), "Pending Synced") << "asked, then complete";
  EXPECT_EQ(store_.resource_version(), "10");

  // The same stream goes on.
  Send(EventJson("MODIFIED", WidgetJson("a/x", 11)));
  EXPECT_EQ(TakeEvents(), "~a/x@11");
  EXPECT_EQ(client_.requests().size(), 1u);
}

TEST_F(ReflectorListTest, WatchListWithChanges) {
  StartAndOpen();
  Send(EventJson("ADDED", WidgetJson("a/x", 5)) + EventJson("ADDED", WidgetJson("a/y", 6)) +
       EventJson("MODIFIED", WidgetJson("a/x", 8)) + EventJson("DELETED", WidgetJson("a/y", 9)) +
       BookmarkJson("9", true));
  EXPECT_EQ(TakeEvents(), "+a/x@8");
}

TEST_F(ReflectorListTest, ScopesAreInTheRequest) {
  spec_ = {kWidget, "foo", "bar"};
  Start();
  EXPECT_TRUE(LastRequest().starts_with("GET /apis/example.com/v1/namespaces/foo/widgets?"));
  EXPECT_EQ(LastQuery("fieldSelector"), "metadata.name=bar");
}

TEST_F(ReflectorListTest, WatchListFallback) {
  const std::pair<int, const char*> answers[] = {{400, "BadRequest"},
                                                 {404, "NotFound"},
                                                 {422, "Invalid"},
                                                 {500, "InternalError"},
                                                 {503, "ServiceUnavailable"}};
  for (const auto& [code, reason] : answers) {
    SCOPED_TRACE(code);
    AddList(200, ListJson("10", {WidgetJson("a/x", 5)}));
    Start();
    const absl::Time start = loop_.clock().TimeNow();
    Refuse(code, StatusJson(code, reason));
    ASSERT_EQ(client_.requests().size(), 3u) << "in the same pass";
    EXPECT_EQ(client_.requests()[1], "GET /apis/example.com/v1/widgets?limit=500")
        << "a consistent read: a plan deletes what it does not show";
    EXPECT_EQ(loop_.clock().TimeNow(), start);
    EXPECT_EQ(LastQuery("sendInitialEvents"), "");
    EXPECT_EQ(LastQuery("resourceVersion"), "10");
    EXPECT_EQ(TakeEvents(), "+a/x@5");
    EXPECT_EQ(state(), DemandState::kPending) << "the watch has not opened yet";
    Open();
    EXPECT_EQ(state(), DemandState::kSynced);
    Reset();
  }
}

TEST_F(ReflectorListTest, WatchListVeryShort) {
  AddList(200, ListJson("10", {}));
  StartAndOpen();
  Close();
  EXPECT_EQ(lists(), 1u);
}

// Upstream warns every ten seconds. Here the state names the missing answer, and the wait ends.
TEST_F(ReflectorListTest, InitialEventsEndBookmarkNeverComes) {
  AddList(200, ListJson("10", {WidgetJson("a/x", 5)}));
  StartAndOpen();
  LastWatch().Send(EventJson("ADDED", WidgetJson("a/x", 5)));
  loop_.RunFor(absl::Seconds(20));
  LastWatch().Send(EventJson("ADDED", WidgetJson("a/y", 6)));
  loop_.RunFor(absl::Seconds(25));
  EXPECT_EQ(lists(), 0u) << "it still makes progress";
  EXPECT_EQ(state(), DemandState::kPending);
  EXPECT_TRUE(
      AsStd(reflector_->status().reason.message()).starts_with("the server has sent no data"))
      << reflector_->status().reason;
  FakeWatch& streaming = LastWatch();
  loop_.RunFor(absl::Seconds(6));
  EXPECT_EQ(lists(), 1u);
  EXPECT_TRUE(streaming.cancelled());
  EXPECT_EQ(TakeEvents(), "+a/x@5") << "of the list; what was half streamed is forgotten";
}

TEST_F(ReflectorListTest, WatchListCutMidwayStartsAgain) {
  StartAndOpen();
  LastWatch().Send(EventJson("ADDED", WidgetJson("a/x", 5)));
  LastWatch().Close(absl::UnavailableError("reset"));
  const absl::Duration wait = TimeToRequest();
  EXPECT_GE(wait, absl::Milliseconds(800));
  EXPECT_EQ(LastQuery("sendInitialEvents"), "true");
  EXPECT_EQ(lists(), 0u);
  EXPECT_EQ(store_.size(), 0u);
}

// As behind a proxy that ends streams before the initial state is complete.
TEST_F(ReflectorListTest, ListsAfterTwoCutWatchLists) {
  for (const absl::Status& end : {absl::UnavailableError("reset"), absl::OkStatus()}) {
    SCOPED_TRACE(end.ToString());
    const auto cut = [&] {
      LastWatch().Open();
      LastWatch().Send(EventJson("ADDED", WidgetJson("a/x", 5)));
      Close(end);
    };
    Start();
    cut();
    TimeToRequest();
    EXPECT_EQ(LastQuery("sendInitialEvents"), "true");
    AddList(200, ListJson("10", {WidgetJson("a/x", 5), WidgetJson("a/y", 6)}));
    cut();
    EXPECT_EQ(TakeEvents(), "+a/x@5 +a/y@6") << "at once";
    Open();
    EXPECT_EQ(state(), DemandState::kSynced);
    // The next pass begins with a watch again.
    Expire();
    EXPECT_EQ(LastQuery("sendInitialEvents"), "true");
    const size_t before = lists();
    cut();
    EXPECT_EQ(lists(), before) << "after one cut it watches again";
    TimeToRequest();
    EXPECT_EQ(LastQuery("sendInitialEvents"), "true");
    Reset();
  }
}

TEST_F(ReflectorListTest, WatchListResourceVersion) {
  StartAndOpen();
  Send(EventJson("ADDED", WidgetJson("a/x", 5)) + BookmarkJson("10", true) +
       ErrorJson(410, "Expired"));
  EXPECT_EQ(state(), DemandState::kStale);
  TimeToRequest();
  EXPECT_EQ(LastQuery("sendInitialEvents"), "true");
  EXPECT_EQ(LastQuery("resourceVersion"), "10") << "the last known version, which it must reach";

  // The server has forgotten the version: the reflector starts at once, from any version.
  const absl::Time before = loop_.clock().TimeNow();
  Refuse(410, StatusJson(410, "Expired"));
  EXPECT_EQ(loop_.clock().TimeNow(), before);
  EXPECT_EQ(LastQuery("sendInitialEvents"), "true");
  EXPECT_EQ(LastQuery("resourceVersion"), "");

  // The server gives the same answer again: only a list helps, and it is sent at once, too.
  AddList(200, ListJson("20", {WidgetJson("a/y", 15)}));
  Refuse(410, StatusJson(410, "Expired"));
  EXPECT_EQ(lists(), 1u);
  TakeEvents();
  Open();
  EXPECT_EQ(state(), DemandState::kSynced);
  EXPECT_EQ(Text(store_.List()), "a/y@15");
}

TEST_F(ReflectorListTest, WatchListTooLargeResourceVersion) {
  Start();
  Refuse(504, StatusJson(504, "Timeout"));
  EXPECT_EQ(watches(), 2u);
  EXPECT_EQ(LastQuery("resourceVersion"), "");
}

TEST_F(ReflectorListTest, WatchListErrorEventFallsBack) {
  AddList(200, ListJson("10", {}));
  StartAndOpen();
  Send(ErrorJson(500, "InternalError"));
  EXPECT_EQ(lists(), 1u);
}

TEST_F(ReflectorListTest, PagesAreFollowed) {
  options_.page_size = 2;
  AddList(200, ListJson("10", {WidgetJson("a/a", 1), WidgetJson("a/b", 2)}, "next=1&"));
  AddList(200, ListJson("10", {WidgetJson("a/c", 3)}, "second"));
  StartWithList(200, ListJson("10", {WidgetJson("a/d", 4)}));
  ASSERT_EQ(lists(), 3u);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(client_.requests()[i].find("resourceVersion"), std::string::npos) << i;
  }
  EXPECT_EQ(QueryOf(client_.requests()[1], "continue"), "next=1&");
  EXPECT_EQ(QueryOf(client_.requests()[1], "limit"), "2");
  EXPECT_EQ(QueryOf(client_.requests()[2], "continue"), "second");
  EXPECT_EQ(TakeEvents(), "+a/a@1 +a/b@2 +a/c@3 +a/d@4");
}

// Upstream asks for a state that is not older than the known one. A lagging cache may answer that.
TEST_F(ReflectorListTest, RelistsAreConsistentReadsInPages) {
  StartSynced(10, {WidgetJson("a/x", 5)});
  Send(EventJson("MODIFIED", WidgetJson("a/x", 12)));
  Expire();
  EXPECT_EQ(LastRequest(), "GET /apis/example.com/v1/widgets?limit=500");
}

TEST_F(ReflectorListTest, FullListIfExpired) {
  const std::string uid(1000, 'u');
  const std::string list = ListJson("12", {WidgetJson("a/new", 11, uid)});
  options_.max_bytes = list.size() + 100;  // what came before it does not count
  AddList(200, ListJson("10", {WidgetJson("a/old", 1, uid)}, "more"));
  AddList(410, StatusJson(410, "Expired"));
  StartWithList(200, list);
  ASSERT_EQ(lists(), 3u);
  EXPECT_EQ(client_.requests()[2], "GET /apis/example.com/v1/widgets") << "without pages";
  EXPECT_EQ(TakeEvents(), "+a/new@11");
}

TEST_F(ReflectorListTest, WaitsAfterAListThatExpires) {
  StartSynced(10);
  AddList(410, StatusJson(410, "Expired"));
  const size_t before = lists();
  Expire();
  loop_.RunReady();
  EXPECT_EQ(lists(), before + 1);
  EXPECT_GE(TimeToRequest(), absl::Milliseconds(800));
}

TEST_F(ReflectorListTest, ARelistSynthesisesMissedEvents) {
  StartSynced(10, {WidgetJson("a/gone", 1), WidgetJson("a/same", 2), WidgetJson("a/new", 3),
                   WidgetJson("a/again", 4)});
  TakeEvents();
  AddList(200, ListJson("20", {WidgetJson("a/same", 2), WidgetJson("a/new", 15),
                               WidgetJson("a/again", 16, "another"), WidgetJson("a/more", 17)}));
  Expire();
  loop_.RunReady();
  EXPECT_EQ(TakeEvents(), "-a/again@4 +a/again@16 -a/gone@1 +a/more@17 ~a/new@15");
}

TEST_F(ReflectorListTest, RetriesAfterABodyThatIsNotAList) {
  StartWithList(200, "<html>");
  EXPECT_EQ(state(), DemandState::kPending);
  AddList(200, ListJson("10", {}));
  EXPECT_GE(NextRequest(), absl::Milliseconds(800));
  Open();
  EXPECT_EQ(state(), DemandState::kSynced);
}

TEST_F(ReflectorListTest, EventsAfterTheInitialOnesMoveTheVersion) {
  StartAndOpen();
  LastWatch().Send(BookmarkJson("10", true) + EventJson("ADDED", WidgetJson("a/x", 12)));
  Close();
  EXPECT_EQ(LastQuery("sendInitialEvents"), "");
  EXPECT_EQ(LastQuery("resourceVersion"), "12");
}

}  // namespace
}  // namespace mandate
