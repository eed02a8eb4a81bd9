#include "manager/cache/kind_store.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/testing/watch_json.h"

namespace mandate {
namespace {

constexpr size_t kMost = 3;

// Keeps the changes of other watches.
class Heard : public KindStore::Listener {
 public:
  void OnObjects(const std::vector<ObjectEvent>& events) override {
    if (!text.empty()) text += " ";
    text += Text(events);
  }
  void OnReplaced(const std::shared_ptr<const ObjectSet>& before) override {
    text += "before: " + Text(*before);
  }
  std::string Take() { return std::exchange(text, ""); }

  std::string text;
};

class KindStoreTest : public testing::Test {
 protected:
  struct Watch {
    Heard heard;
    std::unique_ptr<KindStore::Stream> stream;
  };

  std::unique_ptr<Watch> Open(const std::string& ns, const std::string& name = "") {
    auto watch = std::make_unique<Watch>();
    watch->stream = kind_.Open({kWidget, ns, name}, watch->heard, kMost);
    return watch;
  }
  static std::string List(Watch& watch, const std::vector<ObjectPtr>& objects, int version) {
    return Text(watch.stream->Replace(ContentOf(objects), std::to_string(version), 1000).events);
  }
  static std::string Content(const Watch& watch) { return Text(watch.stream->store()->List()); }
  static const RawObject* Held(const Watch& watch, const char* name) {
    return watch.stream->store()->Get("a", name).get();
  }

  KindStore kind_{kWidget};
};

TEST_F(KindStoreTest, ScopesThatOverlapHoldOneCopy) {
  const auto all = Open(""), in_a = Open("a"), in_b = Open("b"), one = Open("a", "x");
  EXPECT_EQ(List(*all, {Widget("a/x", 1), Widget("a/y", 2), Widget("b/z", 3)}, 3),
            "+a/x@1 +a/y@2 +b/z@3");
  EXPECT_EQ(List(*in_a, {Widget("a/x", 1), Widget("a/y", 2)}, 3), "+a/x@1 +a/y@2");
  EXPECT_EQ(List(*in_b, {Widget("b/z", 3)}, 3), "+b/z@3");
  EXPECT_EQ(List(*one, {Widget("a/x", 1)}, 3), "+a/x@1");
  EXPECT_EQ(Held(*all, "x"), Held(*in_a, "x"));
  EXPECT_EQ(Held(*all, "x"), Held(*one, "x"));
  EXPECT_EQ(all->heard.Take() + in_a->heard.Take() + in_b->heard.Take() + one->heard.Take(), "");
}

TEST_F(KindStoreTest, AChangeIsMadeInEachScopeThatCoversIt) {
  const auto all = Open(""), in_a = Open("a"), in_b = Open("b"), one = Open("a", "x");
  for (const auto& watch : {all.get(), in_a.get(), in_b.get(), one.get()}) List(*watch, {}, 1);

  EXPECT_EQ(Text(in_a->stream->Put(Widget("a/x", 5))), "+a/x@5");
  EXPECT_EQ(all->heard.Take(), "+a/x@5");
  EXPECT_EQ(one->heard.Take(), "+a/x@5");
  EXPECT_EQ(in_b->heard.Take(), "");
  EXPECT_EQ(Text(all->stream->Put(Widget("a/x", 5))), "") << "it is known";

  EXPECT_EQ(Text(one->stream->Put(Widget("a/x", 7))), "~a/x@7");
  EXPECT_EQ(all->heard.Take() + in_a->heard.Take(), "~a/x@7~a/x@7");
  EXPECT_EQ(Text(all->stream->Put(Widget("a/x", 6))), "") << "a watch that lags behind";
  EXPECT_EQ(Content(*all), "a/x@7");

  EXPECT_EQ(Text(all->stream->Put(Widget("a/y", 8))), "+a/y@8");
  EXPECT_EQ(in_a->heard.Take(), "+a/y@8");
  EXPECT_EQ(one->heard.Take(), "");
  EXPECT_EQ(Text(all->stream->Remove(Widget("a/x", 9))), "-a/x@9");
  EXPECT_EQ(Content(*in_a) + "|" + Content(*one), "a/y@8|");
  EXPECT_EQ(one->heard.Take(), "-a/x@9");
}

TEST_F(KindStoreTest, AWatchThatLagsBringsNothingBack) {
  const auto all = Open(""), in_a = Open("a");
  List(*all, {Widget("a/x", 1)}, 1);
  List(*in_a, {Widget("a/x", 1)}, 1);
  EXPECT_EQ(Text(all->stream->Remove(Widget("a/x", 9))), "-a/x@9");
  all->stream->SetResourceVersion("9");
  EXPECT_EQ(Text(in_a->stream->Put(Widget("a/x", 4))), "") << "it was deleted later";
  EXPECT_EQ(Content(*all) + Content(*in_a), "");
  EXPECT_EQ(List(*in_a, {Widget("a/x", 4)}, 4), "") << "also in a list";
  EXPECT_EQ(Text(in_a->stream->Put(Widget("a/x", 12))), "+a/x@12") << "created again";
  EXPECT_EQ(Content(*all), "a/x@12");
}

TEST_F(KindStoreTest, AListIsMergedWithWhatOtherWatchesKnow) {
  struct Row {
    const char* name;
    std::vector<ObjectPtr> all;  // as of version 10
    std::vector<ObjectPtr> in_a;
    int version;  // of in_a's list
    const char* events;
    const char* told;     // to the other watch
    const char* content;  // of both, in namespace a
  };
  const Row rows[] = {
      {"equal", {Widget("a/x", 3)}, {Widget("a/x", 3)}, 10, "+a/x@3", "", "a/x@3"},
      {"the list is newer",
       {Widget("a/x", 3)},
       {Widget("a/x", 12)},
       12,
       "+a/x@12",
       "~a/x@12",
       "a/x@12"},
      {"the list is older", {Widget("a/x", 8)}, {Widget("a/x", 3)}, 5, "+a/x@8", "", "a/x@8"},
      {"the list is older, and shorter",
       {Widget("a/x", 10)},
       {Widget("a/x", 3)},
       5,
       "+a/x@10",
       "",
       "a/x@10"},
      {"created after the other's state",
       {},
       {Widget("a/x", 12)},
       12,
       "+a/x@12",
       "+a/x@12",
       "a/x@12"},
      {"deleted before the other's state", {}, {Widget("a/x", 3)}, 5, "", "", ""},
      {"created after the list", {Widget("a/x", 8)}, {}, 5, "+a/x@8", "", "a/x@8"},
      {"deleted before the list", {Widget("a/x", 8)}, {}, 12, "", "-a/x@8", ""},
      {"another object of the name",
       {Widget("a/x", 8, "old")},
       {Widget("a/x", 12, "new")},
       12,
       "+a/x@12",
       "-a/x@8 +a/x@12",
       "a/x@12"},
      {"objects elsewhere stay", {Widget("b/x", 8)}, {}, 12, "", "", ""},
  };
  for (const Row& row : rows) {
    const auto all = Open(""), in_a = Open("a");
    List(*all, row.all, 10);
    EXPECT_EQ(List(*in_a, row.in_a, row.version), row.events) << row.name;
    EXPECT_EQ(all->heard.Take(), row.told) << row.name;
    EXPECT_EQ(Content(*in_a), row.content) << row.name;
    EXPECT_EQ(Text(all->stream->store()->List("a")), row.content) << row.name;
    size_t bytes = 0;
    for (const ObjectPtr& object : in_a->stream->store()->List()) bytes += object->size();
    EXPECT_EQ(in_a->stream->bytes().stored, bytes) << row.name;
  }
}

TEST_F(KindStoreTest, ManyChangesAreTheFormerContent) {
  const auto all = Open(""), in_a = Open("a");
  List(*all, {Widget("a/1", 1), Widget("a/2", 2)}, 2);
  EXPECT_EQ(
      List(*in_a, {Widget("a/1", 11), Widget("a/2", 12), Widget("a/3", 13), Widget("a/4", 14)}, 14),
      "+a/1@11 +a/2@12 +a/3@13 +a/4@14");
  EXPECT_EQ(all->heard.Take(), "before: a/1@1 a/2@2");
  EXPECT_EQ(Content(*all), "a/1@11 a/2@12 a/3@13 a/4@14");
}

TEST_F(KindStoreTest, AClosedWatchLeavesTheOthersTheirObjects) {
  auto all = Open("");
  const auto in_a = Open("a");
  List(*all, {Widget("a/x", 1), Widget("b/y", 2)}, 2);
  List(*in_a, {Widget("a/x", 1)}, 2);
  all.reset();
  EXPECT_EQ(Content(*in_a), "a/x@1");
  EXPECT_EQ(in_a->heard.Take(), "");
  EXPECT_EQ(Text(in_a->stream->Put(Widget("a/x", 3))), "~a/x@3");
  // A store that was not filled yet gets nothing.
  const auto again = Open("");
  EXPECT_EQ(Text(in_a->stream->Put(Widget("a/x", 4))), "~a/x@4");
  EXPECT_EQ(Content(*again) + again->heard.Take(), "");
}

// Nobody demands them any more. The others have the objects of their scopes.
TEST_F(KindStoreTest, AClosedStoreKeepsNoObjectForAWatchThatIsBehind) {
  const auto in_a = Open("a");
  List(*in_a, {}, 1);
  auto all = Open("");
  List(*all, {Widget("a/x", 2), Widget("b/y", 3)}, 5);
  const std::weak_ptr<const RawObject> object = all->stream->store()->Get("b", "y");
  all.reset();
  EXPECT_TRUE(object.expired());
  EXPECT_EQ(Text(in_a->stream->Put(Widget("a/z", 4))), "") << "deleted before version 5";
  EXPECT_EQ(Content(*in_a), "a/x@2");
  in_a->stream->SetResourceVersion("5");
  EXPECT_EQ(Text(in_a->stream->Put(Widget("a/z", 6))), "+a/z@6");
}

// Also if it knew only a part of them: one with a selector does not know what was deleted.
TEST_F(KindStoreTest, AListDoesNotBringBackAnOlderVersionThanAClosedWatchHad) {
  for (const char* labels : {"", "app=web"}) {
    SCOPED_TRACE(labels);
    const auto in_a = Open("a");
    List(*in_a, {Widget("a/x", 1, "", "app=web")}, 1);
    Heard heard;
    auto other = kind_.Open({kWidget, "", "", labels}, heard, kMost);
    other->Replace(ContentOf({Widget("a/x", 5, "", "app=web")}), "5", 1000);
    other.reset();
    EXPECT_EQ(in_a->heard.Take(), "~a/x@5");
    EXPECT_EQ(List(*in_a, {Widget("a/x", 3, "", "app=web")}, 4), "");
    EXPECT_EQ(Content(*in_a), "a/x@5");
    EXPECT_EQ(List(*in_a, {}, 6), "-a/x@5");
  }
}

// A watch may be down for days: its component has no credential, or its objects exceed a limit.
TEST_F(KindStoreTest, AWatchThatStaysBehindRemembersABoundedNumberOfClosedScopes) {
  prometheus::Counter forgotten;
  KindStore kind(kWidget, {.max_closed_scopes = 4, .forgotten = &forgotten});
  Heard heard;
  const auto open = [&](const std::string& ns, int version) {
    auto stream = kind.Open({kWidget, ns, ""}, heard, kMost);
    stream->Replace({}, std::to_string(version), 1000);
    return stream;
  };
  const auto all = open("", 1);
  for (int i = 0; i < 10; ++i) open("ns" + std::to_string(i), 10 + i);
  EXPECT_EQ(forgotten.Value(), 6);
  EXPECT_EQ(Text(all->Put(Widget("ns9/x", 9))), "");
  EXPECT_EQ(Text(all->Put(Widget("ns0/x", 9))), "+ns0/x@9") << "it was forgotten";
}

TEST_F(KindStoreTest, APurgedStoreIsEmptyAndLeavesTheOthersTheirObjects) {
  const auto all = Open(""), in_a = Open("a");
  List(*all, {Widget("a/x", 1), Widget("b/y", 2)}, 2);
  List(*in_a, {Widget("a/x", 1)}, 2);
  auto read = all->stream->store();  // by a reader that began before
  const std::weak_ptr<const RawObject> gone = read->Get("b", "y");
  all->stream->Purge();
  EXPECT_EQ(Text(read->List()), "a/x@1 b/y@2");
  read = nullptr;
  EXPECT_TRUE(gone.expired());
  EXPECT_EQ(Content(*all) + "|" + Content(*in_a), "|a/x@1");
  EXPECT_EQ(all->stream->store()->resource_version(), "");
  EXPECT_EQ(Text(in_a->stream->Put(Widget("a/x", 3))), "~a/x@3");
  EXPECT_EQ(Content(*all) + all->heard.Take(), "") << "it is not filled";
  EXPECT_EQ(List(*all, {Widget("a/x", 3), Widget("b/y", 2)}, 3), "+a/x@3 +b/y@2");
  EXPECT_EQ(Held(*all, "x"), Held(*in_a, "x"));
}

// Nobody may read them any more.
TEST_F(KindStoreTest, APurgedStoreKeepsNoObjectsForAWatchThatIsBehind) {
  const auto all = Open(""), in_a = Open("a");
  List(*in_a, {Widget("a/x", 1)}, 1);
  List(*all, {Widget("a/x", 1), Widget("b/y", 3)}, 5);
  const std::weak_ptr<const RawObject> gone = all->stream->store()->Get("b", "y");
  all->stream->Purge();
  EXPECT_TRUE(gone.expired());
  // What it knew of a/x and a/z is still known.
  EXPECT_EQ(Text(in_a->stream->Put(Widget("a/x", 2))), "~a/x@2");
  EXPECT_EQ(Text(in_a->stream->Put(Widget("a/z", 4))), "") << "deleted before version 5";
  EXPECT_EQ(Text(in_a->stream->Put(Widget("a/z", 6))), "+a/z@6");
  EXPECT_EQ(Text(in_a->stream->Put(Widget("a/z", 7))), "~a/z@7");
  in_a->stream->SetResourceVersion("7");
  EXPECT_EQ(List(*all, {Widget("a/x", 2), Widget("a/z", 7)}, 7), "+a/x@2 +a/z@7");
}

TEST_F(KindStoreTest, AWatchThatLagsBehindAPurgedStoreBringsNothingBack) {
  const auto all = Open(""), in_a = Open("a");
  List(*all, {Widget("a/x", 1)}, 1);
  List(*in_a, {Widget("a/x", 1)}, 1);
  EXPECT_EQ(Text(in_a->stream->Remove(Widget("a/x", 5))), "-a/x@5");
  in_a->stream->SetResourceVersion("5");
  in_a->stream->Purge();
  EXPECT_EQ(Text(all->stream->Put(Widget("a/x", 3))), "");
  all->stream->SetResourceVersion("6");
  EXPECT_EQ(Text(all->stream->Put(Widget("a/x", 7))), "+a/x@7");
}

TEST_F(KindStoreTest, VersionsThatCannotBeComparedAreNotPassedOn) {
  const auto raw = [](const char* key, const char* version) {
    std::string json = WidgetJson(key, 77);
    json.replace(json.find("\"77\""), 4, std::string("\"") + version + "\"");
    return *ParseRawObject(json, Encoding::kJson);
  };
  const auto all = Open(""), in_a = Open("a");
  all->stream->Replace(ContentOf({raw("a/x", "v1")}), "v1", 1000);
  in_a->stream->Replace(ContentOf({raw("a/x", "v2")}), "v2", 1000);
  in_a->stream->Put(raw("a/y", "v3"));
  in_a->stream->Remove(raw("a/x", "v4"));
  EXPECT_EQ(all->heard.Take(), "");
  EXPECT_EQ(all->stream->size(), 1);
  EXPECT_EQ(in_a->stream->size(), 1);
}

}  // namespace
}  // namespace mandate
