#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <stdexcept>
#include <thread>

#include "manager/cache/index.h"
#include "manager/cache/store.h"
#include "manager/cache/testing/watch_json.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using Values = std::vector<std::string>;

// The UID of a widget holds its values, "v1+v2"; "?" cannot be extracted.
absl::StatusOr<Values> ValuesOf(const RawObject& object) {
  Values values;
  std::string_view rest = object.uid();
  if (rest == "?") return absl::InvalidArgumentError("scripted");
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('+'), rest.size());
    values.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return values;
}

std::shared_ptr<const IndexDefinition> Index(IndexFunc extract = ValuesOf) {
  return std::make_shared<const IndexDefinition>(
      IndexDefinition{kWidget, "field", std::move(extract)});
}

std::string Scan(const ObjectStore& store, std::string_view value, std::string_view ns) {
  std::vector<ObjectPtr> objects = store.List(ns);
  std::erase_if(objects, [&](const ObjectPtr& object) {
    const auto values = ValuesOf(*object);
    return values.ok() && std::find(values->begin(), values->end(), value) == values->end();
  });
  return Text(objects);
}

TEST(StoreIndexTest, FindsByValueAndNamespace) {
  const auto index = Index();
  ObjectStore store;
  store.AddIndex(index);
  store.Replace(
      ContentOf({Widget("a/x", 1, "red"), Widget("a/y", 2, "red+blue"), Widget("b/x", 3, "blue"),
                 Widget("b/y", 4, "none"), Widget("b/z", 5, "?")}),
      "5");
  EXPECT_EQ(Text(*store.ReadBy(*index, "red", "")), "a/x@1 a/y@2 b/z@5");
  EXPECT_EQ(Text(*store.ReadBy(*index, "red", "a")), "a/x@1 a/y@2");
  EXPECT_EQ(Text(*store.ReadBy(*index, "blue", "b")), "b/x@3 b/z@5");
  EXPECT_EQ(Text(*store.ReadBy(*index, "green", "")), "b/z@5") << "it may be green";
  EXPECT_EQ(Text(store.ListByIndex(*index, "blue", "")), "a/y@2 b/x@3 b/z@5");
  store.Put(Widget("a/y", 6, "green"));
  store.Remove(Widget("a/x", 7));
  store.Put(Widget("b/z", 8, "red"));
  EXPECT_EQ(Text(*store.ReadBy(*index, "red", "")), "b/z@8");
  EXPECT_EQ(Text(*store.ReadBy(*index, "green", "")), "a/y@6");
}

// An edit of labels does not increase the generation.
TEST(StoreIndexTest, FollowsTheLabelsOfAnObject) {
  const auto labelled = [](int version, std::string_view app) {
    return *ParseRawObject(
        StrCat(R"({"metadata":{"namespace":"a","name":"x","uid":"1","generation":1,)",
               R"("resourceVersion":")", version, R"(","labels":{"app":")", app, R"("}}})"),
        Encoding::kJson);
  };
  const auto index = Index(IndexByLabel("app"));
  ObjectStore store;
  store.AddIndex(index);
  store.Put(labelled(1, "web"));
  EXPECT_EQ(Text(*store.ReadBy(*index, "web", "")), "a/x@1");
  store.Put(labelled(2, "db"));
  EXPECT_EQ(Text(*store.ReadBy(*index, "web", "")), "");
  EXPECT_EQ(Text(*store.ReadBy(*index, "db", "")), "a/x@2");
}

TEST(StoreIndexTest, FollowsAReplacedContent) {
  const auto index = Index();
  ObjectStore store;
  store.AddIndex(index);
  std::vector<ObjectPtr> widgets;
  for (int i = 0; i < 10; ++i) widgets.push_back(Widget(StrCat("a/", i), 10 + i, "red"));
  store.Replace(ContentOf(widgets), "20");
  EXPECT_EQ(store.ReadBy(*index, "red", "")->size(), 10u);
  widgets[1] = Widget("a/1", 21, "blue");
  widgets[2] = Widget("a/2", 22, "blue");
  const auto replaced = store.Replace(ContentOf(widgets), "22", /*most_events=*/2);
  ASSERT_NE(replaced.before, nullptr);
  EXPECT_EQ(Text(*store.ReadBy(*index, "blue", "")), "a/1@21 a/2@22");
  EXPECT_EQ(store.ReadBy(*index, "red", "")->size(), 8u);
}

TEST(StoreIndexTest, AStoreAnswersOnlyForItsIndexes) {
  const auto index = Index();
  const auto other = Index();
  ObjectStore store;
  store.Put(Widget("a/x", 1, "red"));
  store.AddIndex(index);
  EXPECT_EQ(Text(*store.ReadBy(*index, "red", "")), "a/x@1") << "added to a store with content";
  EXPECT_EQ(store.ReadBy(*other, "red", "").status().code(), absl::StatusCode::kUnavailable);
  store.RemoveIndex(*index);
  EXPECT_EQ(store.ReadBy(*index, "red", "").status().code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(store.ListByIndex(*index, "red", "").empty());
}

TEST(StoreIndexTest, EachChangeIsExtractedOnceAndByReadersAlone) {
  int extracted = 0;
  const auto index = Index([&](const RawObject& object) {
    ++extracted;
    return ValuesOf(object);
  });
  ObjectStore store;
  store.AddIndex(index);
  std::vector<ObjectPtr> objects;
  for (int i = 0; i < 1000; ++i) objects.push_back(Widget(StrCat("a/", i), 1 + i, "red"));
  store.Replace(ContentOf(objects), "1000");
  EXPECT_EQ(extracted, 0);
  EXPECT_EQ(store.ReadBy(*index, "red", "")->size(), 1000u);
  EXPECT_EQ(extracted, 1000);
  EXPECT_EQ(store.ReadBy(*index, "red", "")->size(), 1000u);
  EXPECT_EQ(extracted, 1000);
  store.Put(Widget("a/7", 1001, "blue"));
  store.Put(Widget("a/7", 1002, "green"));
  store.Put(Widget("z/7", 1003, "green"));
  EXPECT_EQ(Text(*store.ReadBy(*index, "green", "")), "a/7@1002 z/7@1003");
  EXPECT_EQ(extracted, 1002) << "only the last of two changes of an object";
  store.Replace(ContentOf(store.List()), "2000");
  EXPECT_EQ(store.ReadBy(*index, "red", "")->size(), 999u);
  EXPECT_EQ(extracted, 1002) << "a list that changes nothing";
}

TEST(StoreIndexTest, FindsAnObjectWhoseFunctionThrowsByEachValue) {
  const auto index = Index([](const RawObject& object) -> Values {
    if (object.name() == "bad") throw std::runtime_error("scripted");
    return {"red"};
  });
  ObjectStore store;
  store.AddIndex(index);
  store.Replace(ContentOf({Widget("a/bad", 1), Widget("a/good", 2)}), "2");
  EXPECT_EQ(Text(*store.ReadBy(*index, "red", "")), "a/bad@1 a/good@2");
  EXPECT_EQ(Text(*store.ReadBy(*index, "blue", "")), "a/bad@1");
}

// A reader stops after it has taken objects, before it brings their values. Another reader
// continues without it.
TEST(StoreIndexTest, ASlowReaderDoesNotDelayOthersOrOverwrite) {
  bool nested = false;
  const IndexDefinition* self = nullptr;
  ObjectStore store;
  const auto index = Index([&](const RawObject& object) {
    if (!std::exchange(nested, true)) {
      EXPECT_EQ(Text(*store.ReadBy(*self, "red", "")), "a/x@1");
      store.Put(Widget("a/x", 2, "blue"));
      store.Remove(Widget("a/y", 3));
    }
    return ValuesOf(object);
  });
  self = index.get();
  store.AddIndex(index);
  store.Replace(ContentOf({Widget("a/x", 1, "red"), Widget("a/y", 2, "blue")}), "2");
  EXPECT_EQ(Text(*store.ReadBy(*index, "blue", "")), "a/x@2");
  EXPECT_EQ(Text(*store.ReadBy(*index, "red", "")), "");
}

TEST(StoreIndexTest, AnIndexThatGoesWhileItIsReadEndsTheRead) {
  const IndexDefinition* self = nullptr;
  ObjectStore store;
  const auto index = Index([&](const RawObject& object) {
    store.RemoveIndex(*self);
    return ValuesOf(object);
  });
  self = index.get();
  store.AddIndex(index);
  store.Replace(ContentOf({Widget("a/x", 1, "red")}), "1");
  EXPECT_EQ(store.ReadBy(*index, "red", "").status().code(), absl::StatusCode::kUnavailable);
}

TEST(StoreIndexTest, AgreesWithAScan) {
  const char* const kUids[] = {"red", "blue", "red+blue", "blue+green+blue", "x", "?"};
  for (uint32_t seed = 0; seed < 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 die(seed);
    ObjectStore store;
    std::vector<std::shared_ptr<const IndexDefinition>> indexes = {Index()};
    store.AddIndex(indexes[0]);
    int version = 0;
    const auto key = [&] { return StrCat("n", die() % 3, "/", die() % 8); };
    const auto widget = [&] { return Widget(key(), ++version, kUids[die() % 6]); };
    for (int step = 0; step < 200; ++step) {
      switch (die() % 12) {
        case 0: {
          std::vector<ObjectPtr> objects;
          for (uint32_t n = die() % 20; n > 0; --n) {
            objects.push_back(die() % 3 == 0 || store.size() == 0
                                  ? widget()
                                  : store.List()[die() % store.size()]);
          }
          store.Replace(ContentOf(objects), StrCat(++version));
          break;
        }
        case 1:
        case 2:
        case 3:
          store.Remove(Widget(key(), ++version));
          break;
        case 4:
          if (indexes.size() < 3) {
            indexes.push_back(Index());
            store.AddIndex(indexes.back());
          } else {
            store.RemoveIndex(*indexes.back());
            indexes.pop_back();
          }
          break;
        case 5:
        case 6:
          for (const auto& index : indexes) {
            const char* ns = die() % 2 == 0 ? "" : "n1";
            for (const char* value : {"red", "blue", "green", "none"}) {
              ASSERT_EQ(Text(*store.ReadBy(*index, value, ns)), Scan(store, value, ns));
              ASSERT_EQ(Text(store.ListByIndex(*index, value, ns)), Scan(store, value, ns));
            }
          }
          break;
        default:
          store.Put(widget());
      }
    }
  }
}

TEST(StoreIndexTest, ReadersAndTheWriterRunAtOnce) {
  const auto index = Index();
  ObjectStore store;
  store.AddIndex(index);
  std::atomic<bool> done = false;
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!done) {
        const auto found = store.ReadBy(*index, "red", "");
        ASSERT_TRUE(found.ok());
        for (const ObjectPtr& object : *found) ASSERT_EQ(object->uid(), "red");
      }
    });
  }
  std::mt19937 die(1);
  for (int version = 1; version <= 5000; ++version) {
    const std::string key = StrCat("a/", die() % 600);
    if (die() % 4 == 0) {
      store.Remove(Widget(key, version));
    } else {
      store.Put(Widget(key, version, die() % 2 == 0 ? "red" : "blue"));
    }
  }
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(Text(*store.ReadBy(*index, "red", "")), Scan(store, "red", ""));
}

}  // namespace
}  // namespace mandate
