// What cannot be read is neither absent nor as it was.
#include <gtest/gtest.h>

#include "manager/cache/cache.h"
#include "manager/cache/testing/reflector_fixture.h"

namespace mandate {
namespace {

// Nests too deep to be read.
std::string DeepJson(std::string_view key, int version) {
  std::string json = WidgetJson(key, version);
  json.pop_back();
  return StrCat(json, R"(,"spec":)", std::string(600, '['), std::string(600, ']'), "}");
}

constexpr char kNameless[] = R"({"metadata":{"uid":"nameless"}})";

// Both ways to get the whole state.
class ReflectorUnreadableTest : public ReflectorFixture, public testing::WithParamInterface<bool> {
 protected:
  bool watch_list() const { return GetParam(); }

  // The next state is `items` at `version`. What nobody can identify the reflector asks for by
  // LIST.
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
    if (state() != DemandState::kSynced) LastWatch().Open();
    loop_.RunReady();
    EXPECT_EQ(state(), DemandState::kSynced);
  }
  void StartWith(int version, const std::vector<std::string>& items) {
    options_.watch_list = watch_list();
    if (!watch_list()) AddList(200, ListJson(StrCat(version), items));
    Start();
    Serve(version, items);
  }
  void Relist(int version, const std::vector<std::string>& items) {
    if (!watch_list()) AddList(200, ListJson(StrCat(version), items));
    LastWatch().Send(ErrorJson(410, "Expired"));
    TimeToRequest();
    loop_.RunReady();
    Serve(version, items);
  }
  // "@5", "absent", "unreadable".
  std::string Read(std::string_view ns, std::string_view name) {
    const auto object = store_.Read(ns, name);
    if (absl::IsDataLoss(object.status())) return "unreadable";
    return *object == nullptr ? "absent" : StrCat("@", (*object)->resource_version());
  }
  double Unreadable() {
    return metrics_
        .Gauge("mandate_cache_unreadable_objects", "",
               {{"kind", "widgets.example.com"}, {"scope", "cluster"}})
        .Value();
  }
};

INSTANTIATE_TEST_SUITE_P(, ReflectorUnreadableTest, testing::Bool(),
                         [](const auto& info) { return info.param ? "WatchList" : "List"; });

TEST_P(ReflectorUnreadableTest, OneDoesNotStopTheOthers) {
  StartWith(10, {WidgetJson("a/x", 1), DeepJson("a/y", 2), WidgetJson("a/z", 3)});
  EXPECT_EQ(TakeEvents(), "+a/x@1 +a/z@3");
  EXPECT_EQ(Read("a", "x"), "@1");
  EXPECT_EQ(Read("a", "y"), "unreadable") << "it is there";
  EXPECT_EQ(Read("a", "none"), "absent");
  EXPECT_EQ(Unreadable(), 1);
}

TEST_P(ReflectorUnreadableTest, ARelistDeletesNothingThatItCannotRead) {
  StartWith(10, {WidgetJson("a/x", 1), WidgetJson("a/y", 2), WidgetJson("b/z", 3)});
  EXPECT_EQ(TakeEvents(), "+a/x@1 +a/y@2 +b/z@3");
  Relist(20, {DeepJson("a/x", 15), WidgetJson("a/y", 2)});
  EXPECT_EQ(TakeEvents(), "-b/z@3") << "this one alone is gone";
  EXPECT_EQ(Read("a", "x"), "unreadable");
  EXPECT_EQ(Read("a", "y"), "@2");
  EXPECT_EQ(Read("b", "z"), "absent");
  const absl::Status list = store_.ReadAll("a").status();
  EXPECT_EQ(list.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(list.message().find("a/x"), std::string::npos) << list;
  EXPECT_EQ(store_.ReadAll().status().code(), absl::StatusCode::kDataLoss);
  EXPECT_TRUE(store_.ReadAll("b").ok());
  EXPECT_EQ(Text(store_.List()), "a/x@1 a/y@2") << "what was last seen";

  Relist(30, {DeepJson("a/x", 15), WidgetJson("a/y", 2)});
  EXPECT_EQ(TakeEvents(), "");
  Send(EventJson("MODIFIED", WidgetJson("a/x", 31)));
  EXPECT_EQ(TakeEvents(), "~a/x@31");
  EXPECT_EQ(Read("a", "x"), "@31");
  EXPECT_TRUE(store_.ReadAll().ok());
  EXPECT_EQ(Unreadable(), 0);
}

TEST_P(ReflectorUnreadableTest, ARelistWithOneThatNobodyCanIdentifyDeletesNothing) {
  StartWith(10, {WidgetJson("a/x", 1), WidgetJson("a/y", 2)});
  TakeEvents();
  Relist(20, {kNameless, WidgetJson("a/y", 2), WidgetJson("a/z", 15)});
  EXPECT_EQ(TakeEvents(), "+a/z@15");
  EXPECT_EQ(Read("a", "x"), "unreadable") << "it may be this one";
  EXPECT_EQ(Read("a", "none"), "unreadable") << "or this one";
  EXPECT_EQ(Read("a", "y"), "@2");
  EXPECT_EQ(store_.ReadAll("b").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Unreadable(), 2);
  Relist(30, {WidgetJson("a/y", 2), WidgetJson("a/z", 15)});
  EXPECT_EQ(TakeEvents(), "-a/x@1");
  EXPECT_EQ(Read("a", "none"), "absent");
  EXPECT_EQ(Unreadable(), 0);
}

TEST_P(ReflectorUnreadableTest, AChangeThatCannotBeReadIsNotMissed) {
  StartWith(10, {WidgetJson("a/x", 1)});
  TakeEvents();
  Send(EventJson("MODIFIED", DeepJson("a/x", 11)) + EventJson("ADDED", DeepJson("a/y", 12)));
  EXPECT_EQ(TakeEvents(), "");
  EXPECT_EQ(state(), DemandState::kSynced);
  EXPECT_EQ(Read("a", "x"), "unreadable") << "not as it was";
  EXPECT_EQ(Read("a", "y"), "unreadable") << "not absent";
  EXPECT_EQ(store_.resource_version(), "12");
  EXPECT_EQ(Unreadable(), 2);
  Send(EventJson("DELETED", DeepJson("a/x", 13)) + EventJson("DELETED", DeepJson("a/y", 14)));
  EXPECT_EQ(TakeEvents(), "-a/x@1");
  EXPECT_EQ(Read("a", "x"), "absent");
  EXPECT_EQ(Read("a", "y"), "absent");
  EXPECT_EQ(Unreadable(), 0);
}

TEST_P(ReflectorUnreadableTest, ItStaysSoUntilItIsMended) {
  StartWith(10, {WidgetJson("a/x", 1)});
  Send(EventJson("MODIFIED", DeepJson("a/x", 15)) + EventJson("MODIFIED", WidgetJson("a/x", 12)));
  EXPECT_EQ(Read("a", "x"), "unreadable") << "what is older says nothing";
  Send(EventJson("MODIFIED", WidgetJson("a/x", 16)));
  EXPECT_EQ(Read("a", "x"), "@16");
}

TEST_P(ReflectorUnreadableTest, AChangeThatNobodyCanIdentifyIsLookedUp) {
  for (const std::string& frame : {EventJson("MODIFIED", kNameless), std::string("no JSON\n")}) {
    SCOPED_TRACE(frame);
    StartWith(10, {WidgetJson("a/x", 1)});
    TakeEvents();
    Send(frame);
    EXPECT_EQ(state(), DemandState::kStale);
    if (!watch_list()) AddList(200, ListJson("20", {WidgetJson("a/x", 15)}));
    EXPECT_GE(TimeToRequest(), absl::Milliseconds(800));
    loop_.RunReady();
    Serve(20, {WidgetJson("a/x", 15)});
    EXPECT_EQ(TakeEvents(), "~a/x@15");
    reflector_.reset();
    store_.Replace({}, "");
    client_.ForgetRequests();
  }
}

// As a component sees it.
TEST(UnreadableReadsTest, AreErrorsThatNameTheObject) {
  SimulatedLoop loop;
  Metrics metrics;
  FakeRestClient client(loop, "reader");
  Cache::Options options{.loop = loop, .metrics = metrics};
  auto cache = Cache::Create(std::move(options));
  ASSERT_TRUE(cache.ok()) << cache.status();
  static constexpr std::string_view kVerbs[] = {"list", "watch"};
  static constexpr std::string_view kGroups[] = {kWidget.group};
  static constexpr std::string_view kPlurals[] = {kWidget.plural};
  static constexpr rbac::MandateRule kRules[] = {{{kVerbs, kGroups, kPlurals, {}, {}}, "", false}};
  static constexpr rbac::Mandate kMandate = {"reader", kRules};
  CacheView& view = (*cache)->AddComponent(client, kMandate);
  const auto demand = view.Demand({kWidget, "", ""}, nullptr);
  loop.RunReady();
  FakeWatch& watch = *client.watches().back();
  watch.Open();
  watch.Send(EventJson("ADDED", DeepJson("a/x", 5)) + BookmarkJson("10", true));
  loop.RunReady();
  const absl::Status get = view.GetRaw({}, kWidget, {"a", "x"}).status();
  EXPECT_EQ(get.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(get.message().find("a/x exists and cannot be read"), std::string::npos) << get;
  EXPECT_NE(get.message().find("nested deeper than the limit of 512"), std::string::npos) << get;
  EXPECT_EQ(view.GetRaw({}, kWidget, {"a", "y"}).status().code(), absl::StatusCode::kNotFound);
  const absl::Status list = view.ListRaw({}, kWidget, "").status();
  EXPECT_EQ(list.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(list.message().find("a/x"), std::string::npos) << list;
  const absl::Status any = demand->Unreadable();
  EXPECT_EQ(any.code(), absl::StatusCode::kDataLoss);
  EXPECT_NE(any.message().find("widgets.example.com: "), std::string::npos) << any;
  EXPECT_NE(any.message().find("a/x"), std::string::npos) << any;
  watch.Send(EventJson("MODIFIED", WidgetJson("a/x", 11)));
  loop.RunReady();
  EXPECT_EQ(demand->Unreadable(), absl::OkStatus());
}

}  // namespace
}  // namespace mandate
