#include "manager/cache/known_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "manager/cache/testing/watch_json.h"

namespace mandate {
namespace {

KnownStore Known(const std::string& ns, const std::string& name, const std::string& labels = "") {
  return KnownStore({kWidget, ns, name, labels}, std::make_shared<ObjectStore>(), nullptr, 1);
}

TEST(KnownStore, CoversWhatItsWatchWouldDeliver) {
  const struct {
    std::string ns, name, labels;
    bool in_scope, covers;
  } cases[] = {
      {"", "", "", true, true},         {"a", "", "", true, true},
      {"a", "x", "", true, true},       {"b", "", "", false, false},
      {"a", "y", "", false, false},     {"", "", "app=web", true, true},
      {"a", "", "app=web", true, true}, {"b", "", "app=web", false, false},
      {"a", "", "app=db", true, false}, {"a", "", "!app", true, false},
      {"a", "", "=,=", true, false},  // not a selector
  };
  const ObjectPtr object = Widget("a/x", 5, "", "app=web");
  for (const auto& c : cases) {
    const KnownStore known = Known(c.ns, c.name, c.labels);
    EXPECT_EQ(known.HasInScope(*object), c.in_scope) << known.scope.ToString();
    EXPECT_EQ(known.Covers(*object), c.covers) << known.scope.ToString();
    EXPECT_EQ(known.IsSelected(), !c.labels.empty()) << known.scope.ToString();
  }
}

TEST(KnownStore, OverlapsIfAnObjectCanBeInBoth) {
  const struct {
    KnownStore a, b;
    bool overlaps;
  } cases[] = {
      {Known("", ""), Known("a", "x"), true},
      {Known("a", ""), Known("a", "x"), true},
      {Known("a", ""), Known("b", "x"), false},
      {Known("a", "x"), Known("a", "y"), false},
      {Known("", "x"), Known("a", "x"), true},
      {Known("a", "", "app=web"), Known("a", "", "app=db"), true},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(c.a.Overlaps(c.b), c.overlaps) << c.a.scope.ToString() << c.b.scope.ToString();
    EXPECT_EQ(c.b.Overlaps(c.a), c.overlaps);
  }
}

// Until its own watch gets there, an older version is not brought back.
TEST(KnownStore, WhatHasLeftStaysAwayUntilTheWatchGetsThere) {
  KnownStore known = Known("a", "", "app=web");
  EXPECT_FALSE(known.HasLeft(*Widget("a/x", 4)));
  known.NoteLeft(*Widget("a/x", 5));
  EXPECT_TRUE(known.HasLeft(*Widget("a/x", 4)));
  EXPECT_FALSE(known.HasLeft(*Widget("a/x", 5))) << "this version itself may be back";
  EXPECT_FALSE(known.HasLeft(*Widget("a/y", 4)));
  known.MoveTo("4");
  EXPECT_TRUE(known.HasLeft(*Widget("a/x", 4)));
  known.MoveTo("5");
  EXPECT_FALSE(known.HasLeft(*Widget("a/x", 4)));
  EXPECT_TRUE(known.left.empty());
}

TEST(KnownStore, AStoreThatFollowsAnotherNotesNothing) {
  KnownStore wider = Known("", ""), known = Known("a", "");
  wider.MoveTo("7");
  known.MoveTo("3");
  known.followed = &wider;
  known.NoteLeft(*Widget("a/x", 5));
  EXPECT_TRUE(known.left.empty());
  EXPECT_EQ(known.version(), "7");
}

TEST(KnownStore, WithoutObjectsItKnowsTheirVersions) {
  KnownStore known = Known("a", "");
  known.store->Put(Widget("a/x", 5));
  known.NoteLeft(*Widget("a/z", 6));
  known.MoveTo("5");
  const std::shared_ptr<KnownStore> bare = known.WithoutObjects();
  EXPECT_TRUE(bare->is_without_objects);
  EXPECT_EQ(bare->store->size(), 0u);
  EXPECT_EQ(bare->version(), "5");
  EXPECT_TRUE(bare->HasLeft(*Widget("a/z", 5)));
  EXPECT_TRUE(bare->Remembers(*Widget("a/x", 1)));
  EXPECT_FALSE(bare->Remembers(*Widget("a/y", 1)));

  bare->NotePut(*Widget("a/x", 4));
  EXPECT_EQ(bare->versions.at({"a", "x"}), "5") << "an older one counts for nothing";
  bare->NotePut(*Widget("a/x", 7));
  EXPECT_EQ(bare->versions.at({"a", "x"}), "7");
  bare->NoteRemoved(*Widget("a/x", 6));
  EXPECT_TRUE(bare->Remembers(*Widget("a/x", 1))) << "it was created again since";
  bare->NoteRemoved(*Widget("a/x", 8));
  EXPECT_FALSE(bare->Remembers(*Widget("a/x", 1)));
  bare->NoteRemoved(*Widget("a/x", 9));
}

}  // namespace
}  // namespace mandate
