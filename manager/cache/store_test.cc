#include "manager/cache/store.h"

#include <gtest/gtest.h>

#include "manager/cache/testing/watch_json.h"

namespace mandate {
namespace {

struct ReplaceRow {
  const char* name;
  std::vector<ObjectPtr> before;
  std::vector<ObjectPtr> after;
  const char* events;
  const char* content;
};

TEST(ObjectStoreTest, ReplacesByMarkAndSweep) {
  const ReplaceRow rows[] = {
      {"empty", {}, {}, "", ""},
      {"first list",
       {},
       {Widget("b/x", 2), Widget("a/z", 3), Widget("a/y", 4)},
       "+a/y@4 +a/z@3 +b/x@2",
       "a/y@4 a/z@3 b/x@2"},
      {"same version: no event", {Widget("a/x", 1)}, {Widget("a/x", 1)}, "", "a/x@1"},
      {"newer", {Widget("a/x", 1)}, {Widget("a/x", 2)}, "~a/x@2", "a/x@2"},
      {"a list is right also when it is older",
       {Widget("a/x", 5)},
       {Widget("a/x", 2)},
       "~a/x@2",
       "a/x@2"},
      {"deletes are synthesised",
       {Widget("a/x", 1), Widget("a/y", 2), Widget("b/x", 3)},
       {Widget("a/y", 2)},
       "-a/x@1 -b/x@3",
       "a/y@2"},
      {"another object of that name",
       {Widget("a/x", 1, "u1")},
       {Widget("a/x", 9, "u2")},
       "-a/x@1 +a/x@9",
       "a/x@9"},
      {"all of it at once",
       {Widget("a/a", 1), Widget("a/b", 2), Widget("a/d", 3)},
       {Widget("a/b", 5), Widget("a/c", 6), Widget("a/d", 3)},
       "-a/a@1 ~a/b@5 +a/c@6",
       "a/b@5 a/c@6 a/d@3"},
      {"of doubles the last counts",
       {},
       {Widget("a/x", 1), Widget("a/y", 1), Widget("a/x", 2)},
       "+a/x@2 +a/y@1",
       "a/x@2 a/y@1"},
  };
  for (const ReplaceRow& row : rows) {
    SCOPED_TRACE(row.name);
    ObjectStore store;
    store.Replace(ContentOf(row.before), "10");
    EXPECT_EQ(Text(store.Replace(ContentOf(row.after), "20").events), row.events);
    EXPECT_EQ(Text(store.List()), row.content);
    EXPECT_EQ(store.resource_version(), "20");
    size_t bytes = 0;
    for (const ObjectPtr& object : store.List()) bytes += object->size();
    EXPECT_EQ(store.bytes().stored, bytes);
  }
}

TEST(ObjectStoreTest, KeepsTheCopyThatDidNotChange) {
  ObjectStore store;
  const ObjectPtr first = Widget("a/x", 1);
  store.Replace(ContentOf({first}), "1");
  store.Replace(ContentOf({Widget("a/x", 1), Widget("a/y", 2)}), "2");
  EXPECT_EQ(store.Get("a", "x"), first);
}

TEST(ObjectStoreTest, AppliesWatchEvents) {
  ObjectStore store;
  EXPECT_EQ(Text(store.Put(Widget("a/x", 5))), "+a/x@5");
  EXPECT_EQ(Text(store.Put(Widget("a/x", 5))), "") << "heard twice";
  EXPECT_EQ(Text(store.Put(Widget("a/x", 4))), "") << "an object never goes back";
  const auto update = store.Put(Widget("a/x", 7));
  ASSERT_EQ(Text(update), "~a/x@7");
  EXPECT_EQ(update[0].old->resource_version(), "5");
  EXPECT_EQ(Text(store.Remove(Widget("a/x", 6))), "") << "of an earlier life";
  EXPECT_EQ(Text(store.Remove(Widget("a/y", 9))), "") << "never seen";
  EXPECT_EQ(Text(store.Put(Widget("a/x", 8, "u2"))), "-a/x@7 +a/x@8");
  EXPECT_EQ(Text(store.Remove(Widget("a/x", 9, "u2"))), "-a/x@9") << "its last state";
  EXPECT_EQ(store.size(), 0u);
  EXPECT_EQ(store.bytes().stored, 0u);
}

TEST(ObjectStoreTest, ListsOneNamespace) {
  ObjectStore store;
  store.Replace(
      ContentOf({Widget("a/x", 1), Widget("ab/x", 2), Widget("b/x", 3), Widget("a/y", 4)}), "4");
  EXPECT_EQ(Text(store.List("a")), "a/x@1 a/y@4");
  EXPECT_EQ(Text(store.List("ab")), "ab/x@2");
  EXPECT_EQ(Text(store.List("c")), "");
  EXPECT_EQ(store.Get("a", "z"), nullptr);
}

TEST(ObjectStoreTest, HasReachedOlderVersions) {
  ObjectStore store;
  EXPECT_FALSE(store.HasReached("1"));
  store.SetResourceVersion("10");
  EXPECT_TRUE(store.HasReached("9"));
  EXPECT_TRUE(store.HasReached("10"));
  EXPECT_FALSE(store.HasReached("11"));
  EXPECT_FALSE(store.HasReached("abc"));
}

TEST(ObjectStoreTest, ReturnsTheFormerContentInsteadOfManyEvents) {
  ObjectStore store;
  ObjectStore::Replaced first =
      store.Replace(ContentOf({Widget("a/x", 1), Widget("a/y", 2), Widget("a/z", 3)}), "3", 2);
  EXPECT_TRUE(first.events.empty());
  ASSERT_NE(first.before, nullptr);
  EXPECT_EQ(Text(*first.before), "");
  EXPECT_EQ(Text(store.List()), "a/x@1 a/y@2 a/z@3");
  const auto few =
      store.Replace(ContentOf({Widget("a/x", 1), Widget("a/y", 4), Widget("b/z", 3)}), "4", 3);
  EXPECT_EQ(few.before, nullptr);
  EXPECT_EQ(Text(few.events), "~a/y@4 -a/z@3 +b/z@3");
  const auto many = store.Replace(ContentOf({}), "5", 2);
  EXPECT_TRUE(many.events.empty());
  ASSERT_NE(many.before, nullptr);
  EXPECT_EQ(Text(*many.before), "a/x@1 a/y@4 b/z@3");
  EXPECT_EQ(store.bytes().stored, 0u);
}

TEST(ObjectStoreTest, ListsPartByPart) {
  ObjectStore store;
  for (const char* key : {"a/x", "a/y", "b/x"}) store.Put(Widget(key, 1));
  const auto first = store.ListAfter(nullptr, 2);
  EXPECT_EQ(Text(first), "a/x@1 a/y@1");
  const auto copy = store.Snapshot();
  store.Remove(Widget("a/y", 2));
  EXPECT_EQ(Text(store.ListAfter(first.back(), 2)), "b/x@1") << "behind an object that is gone";
  EXPECT_EQ(Text(store.ListAfter(store.Get("b", "x"), 2)), "");
  EXPECT_EQ(Text(*copy), "a/x@1 a/y@1 b/x@1");
}

TEST(ObjectStoreTest, ReleasesItsContent) {
  ObjectStore store;
  store.Put(Widget("a/y", 2));
  store.Put(Widget("a/x", 1));
  EXPECT_EQ(Text(store.Release().objects), "a/x@1 a/y@2");
  EXPECT_EQ(store.size(), 0u);
  EXPECT_EQ(store.bytes().stored, 0u);
}

}  // namespace
}  // namespace mandate
