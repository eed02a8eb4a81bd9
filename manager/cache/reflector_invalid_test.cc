// Deep objects, and lists and watches with an item that is not a valid object.
#include <gtest/gtest.h>

#include "manager/cache/testing/reflector_fixture.h"

namespace mandate {
namespace {

// The depth up to which an API server stores objects.
std::string DeepJson(std::string_view key, int version) {
  std::string json = WidgetJson(key, version);
  json.pop_back();
  return StrCat(json, R"(,"spec":)", std::string(9999, '['), std::string(9999, ']'), "}");
}

constexpr char kNameless[] = R"({"metadata":{"uid":"nameless"}})";

// Both ways to get the whole state.
class ReflectorInvalidTest : public ReflectorFixture, public testing::WithParamInterface<bool> {
 protected:
  bool watch_list() const { return GetParam(); }

  // The next state is `items` at `version`.
  void Serve(int version, const std::vector<std::string>& items) {
    FakeWatch& watch = LastWatch();
    watch.Open();
    if (watch_list()) {
      AddList(200, ListJson(StrCat(version), items));
      for (const std::string& item : items) watch.Send(EventJson("ADDED", item));
      watch.Send(BookmarkJson(StrCat(version), true));
    }
    loop_.RunReady();
    lists_.clear();
    if (state() != DemandState::kSynced) Open();
    EXPECT_EQ(state(), DemandState::kSynced);
  }
  void StartWith(int version, const std::vector<std::string>& items) {
    options_.watch_list = watch_list();
    if (!watch_list()) AddList(200, ListJson(StrCat(version), items));
    Start();
    Serve(version, items);
  }
};

INSTANTIATE_TEST_SUITE_P(, ReflectorInvalidTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "WatchList" : "List"; });

TEST_P(ReflectorInvalidTest, StoresADeepObject) {
  StartWith(10, {WidgetJson("a/x", 1), DeepJson("a/y", 2)});
  EXPECT_EQ(TakeEvents(), "+a/x@1 +a/y@2");
  Send(EventJson("MODIFIED", DeepJson("a/y", 11)));
  EXPECT_EQ(TakeEvents(), "~a/y@11");
  EXPECT_EQ(state(), DemandState::kSynced);
}

// As in client-go, the store stays as it was.
TEST_P(ReflectorInvalidTest, AListWithAnItemThatIsNotAnObjectFails) {
  StartWith(10, {WidgetJson("a/x", 1)});
  TakeEvents();
  const std::string list = ListJson("20", {kNameless, WidgetJson("a/y", 15)});
  if (!watch_list()) AddList(200, list);
  LastWatch().Send(ErrorJson(410, "Expired"));
  NextRequest();
  if (watch_list()) {
    AddList(200, list);
    LastWatch().Open();
    Send(EventJson("ADDED", kNameless));
  }
  EXPECT_EQ(state(), DemandState::kStale);
  EXPECT_EQ(TakeEvents(), "");
  EXPECT_EQ(Text(store_.List()), "a/x@1");
  if (!watch_list()) AddList(200, ListJson("30", {WidgetJson("a/y", 15)}));
  NextRequest();
  Serve(30, {WidgetJson("a/y", 15)});
  EXPECT_EQ(TakeEvents(), "-a/x@1 +a/y@15");
}

TEST_P(ReflectorInvalidTest, AnInvalidEventEndsTheWatch) {
  for (const std::string& frame : {EventJson("MODIFIED", kNameless), std::string("no JSON\n")}) {
    SCOPED_TRACE(frame);
    StartWith(10, {WidgetJson("a/x", 1)});
    TakeEvents();
    Send(frame);
    EXPECT_EQ(state(), DemandState::kStale);
    if (!watch_list()) AddList(200, ListJson("20", {WidgetJson("a/x", 15)}));
    EXPECT_GE(NextRequest(), absl::Milliseconds(800));
    Serve(20, {WidgetJson("a/x", 15)});
    EXPECT_EQ(TakeEvents(), "~a/x@15");
    Reset();
  }
}

}  // namespace
}  // namespace mandate
