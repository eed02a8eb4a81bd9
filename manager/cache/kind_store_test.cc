#include "manager/cache/kind_store.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <random>
#include <string>
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

// Watches of random scopes follow one history at different speeds: they are opened, list, lag
// behind, list again and are closed.
class KindStoreSimulation : public testing::Test {
 protected:
  struct Change {
    std::string key;
    ObjectPtr object;  // its state at this version; of a deletion its last state
    bool deleted = false;
  };
  // One watch, and its events applied to a copy.
  struct Watch : KindStore::Listener {
    void Apply(const std::vector<ObjectEvent>& events) {
      for (const ObjectEvent& event : events) {
        const std::string key = event.object->Key().ToString();
        const auto held = copy.find(key);
        if (event.type == ObjectEvent::Type::kDelete) {
          ASSERT_NE(held, copy.end()) << "an object that is not there is deleted: " << key;
          copy.erase(held);
          continue;
        }
        ASSERT_EQ(event.type == ObjectEvent::Type::kAdd, held == copy.end()) << key;
        const auto version = std::string(event.object->resource_version());
        const bool is_new = held == copy.end() || held->second != version;
        ASSERT_TRUE(is_new) << "the same event twice: " << key;
        copy[key] = version;
      }
    }
    void OnObjects(const std::vector<ObjectEvent>& events) override { Apply(events); }
    void OnReplaced(const std::shared_ptr<const ObjectSet>&) override { replaced = true; }
    bool Covers(const ObjectKey& key) const {
      return (ns.empty() || ns == key.ns) && (name.empty() || name == key.name);
    }

    std::string ns, name;
    std::unique_ptr<KindStore::Stream> stream;
    size_t at = 0;  // the version; 0: not filled
    bool replaced = false;
    std::map<std::string, std::string> copy;
  };

  size_t Pick(size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(dice_); }

  void Write() {
    const std::string key = std::string(Pick(2) == 0 ? "a/" : "b/") + (Pick(2) == 0 ? "x" : "y");
    const int version = static_cast<int>(history_.size()) + 1;
    const ObjectPtr now = StateAt(history_.size(), key);
    if (now != nullptr && Pick(3) == 0) {
      // The DELETED event has the last state with the version of the deletion.
      history_.push_back({key, Widget(key, version, std::string(now->uid())), true});
      return;
    }
    const std::string uid =
        now != nullptr ? std::string(now->uid()) : "u" + std::to_string(version);
    history_.push_back({key, Widget(key, version, uid), false});
  }
  ObjectPtr StateAt(size_t version, const std::string& key) const {
    for (size_t i = version; i > 0; --i) {
      if (history_[i - 1].key == key)
        return history_[i - 1].deleted ? nullptr : history_[i - 1].object;
    }
    return nullptr;
  }
  void ListAt(Watch& watch, size_t version) {
    std::vector<ObjectPtr> objects;
    for (const char* key : kKeys) {
      const ObjectPtr state = StateAt(version, key);
      // Another copy of the same bytes, as a response has.
      if (state != nullptr && watch.Covers(state->Key())) {
        objects.push_back(*ParseRawObject(state->bytes(), Encoding::kJson));
      }
    }
    watch.at = version;
    watch.Apply(watch.stream->Replace(ContentOf(objects), std::to_string(version), 1000).events);
  }
  void Step() {
    if (Pick(2) == 0) Write();
    if (history_.empty()) return;
    const size_t action = Pick(10);
    if (action == 0 && watches_.size() < 6) {
      auto watch = std::make_unique<Watch>();
      const size_t scope = Pick(4);
      watch->ns = scope == 0 ? "" : Pick(2) == 0 ? "a" : "b";
      watch->name = scope < 2 ? "" : Pick(2) == 0 ? "x" : "y";
      for (const auto& other : watches_) {
        if (other->ns == watch->ns && other->name == watch->name) return;
      }
      watch->stream = kind_->Open({kWidget, watch->ns, watch->name}, *watch, 1000);
      watches_.push_back(std::move(watch));
      return;
    }
    if (watches_.empty()) return;
    const size_t which = Pick(watches_.size());
    Watch& watch = *watches_[which];
    if (action == 1) {
      watches_.erase(watches_.begin() + which);
    } else if (action <= 3 || watch.at == 0) {
      // A watch that was not filled lists the newest state. Later the server may be one that lags
      // behind, but not behind what the watch knew.
      ListAt(watch,
             watch.at == 0 ? history_.size() : watch.at + Pick(history_.size() - watch.at + 1));
    } else {
      for (size_t i = Pick(4); i > 0 && watch.at < history_.size(); --i) {
        const Change& change = history_[watch.at++];
        if (!watch.Covers(change.object->Key())) continue;
        const ObjectPtr object = *ParseRawObject(change.object->bytes(), Encoding::kJson);
        watch.Apply(change.deleted ? watch.stream->Remove(object) : watch.stream->Put(object));
        watch.stream->SetResourceVersion(std::to_string(watch.at));
      }
      if (Pick(2) == 0) watch.stream->SetResourceVersion(std::to_string(watch.at));  // a bookmark
    }
  }
  // What the stores say about an object, and that they agree.
  void Check() {
    for (const char* key : kKeys) {
      std::optional<ObjectPtr> seen;
      size_t newest = 0;
      for (const auto& watch : watches_) {
        const ObjectKey at = {std::string(1, key[0]), key + 2};
        if (watch->at == 0 || !watch->Covers(at)) continue;
        const ObjectPtr held = watch->stream->store()->Get(at.ns, at.name);
        if (seen.has_value()) {
          ASSERT_EQ(held == nullptr, *seen == nullptr) << key;
          ASSERT_EQ(held, *seen) << "two copies of " << key;
        }
        seen = held;
        newest = std::max(newest, watch->at);
        const auto copied = watch->copy.find(key);
        ASSERT_EQ(copied == watch->copy.end(), held == nullptr) << key;
        if (held != nullptr) {
          ASSERT_EQ(copied->second, held->resource_version());
        }
      }
      if (!seen.has_value()) {
        last_.erase(key);
        continue;
      }
      // The state is that of some version at or after the one seen before, and no older than the
      // newest watch.
      const size_t before = last_.contains(key) ? last_[key] : 0;
      size_t version = std::max(before, newest);
      while (version <= history_.size() && !SameState(StateAt(version, key), *seen)) ++version;
      ASSERT_LE(version, history_.size())
          << key << " went back to " << (*seen == nullptr ? "absent" : (*seen)->resource_version());
      last_[key] = version;
    }
  }
  static bool SameState(const ObjectPtr& a, const ObjectPtr& b) {
    if (a == nullptr || b == nullptr) return a == b;
    return a->resource_version() == b->resource_version();
  }

  static constexpr const char* kKeys[] = {"a/x", "a/y", "b/x", "b/y"};
  std::mt19937_64 dice_;
  std::vector<Change> history_;
  std::optional<KindStore> kind_;
  std::vector<std::unique_ptr<Watch>> watches_;
  std::map<std::string, size_t> last_;
};

TEST_F(KindStoreSimulation, NoReaderSeesAnObjectGoBack) {
  for (int seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    dice_.seed(seed);
    history_.clear();
    watches_.clear();
    kind_.emplace(kWidget);
    last_.clear();
    for (int step = 0; step < 150; ++step) {
      Step();
      Check();
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace mandate
