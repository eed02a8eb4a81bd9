#include "manager/cache/known_store.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "manager/cache/testing/watch_json.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

KnownStore Known(const std::string& ns, const std::string& name, const std::string& labels = "") {
  return KnownStore({kWidget, ns, name, labels}, std::make_shared<ObjectStore>(), nullptr, 1,
                    ClosedScopes(/*most=*/9));
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
  known.NoteLeft(*Widget("a/x", 3));
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

// The version up to which a closed watch knew the objects of its scope.
std::string Closed(const KnownStore& known) {
  std::string text;
  known.closed.ForEach([&](std::string_view ns, std::string_view name, uint64_t version) {
    StrAppend(&text, ns, "/", name, "@", version, " ");
  });
  return text;
}

TEST(KnownStore, NotesWhatAClosedWatchKnewOfItsScope) {
  const struct {
    KnownStore known, closed;
    int version;  // of the closed one; the other is at 5
    std::string noted;
  } cases[] = {
      {Known("", ""), Known("a", ""), 7, "a/@7 "},
      {Known("a", ""), Known("", ""), 7, "a/@7 "},
      {Known("a", ""), Known("", "x"), 7, "a/x@7 "},
      {Known("a", "x"), Known("a", ""), 7, "a/x@7 "},
      {Known("a", "", "app"), Known("", ""), 7, "a/@7 "},
      {Known("a", ""), Known("a", "", "app"), 7, ""},  // an object may exist without the label
      {Known("a", ""), Known("", ""), 5, ""},
      {Known("a", ""), Known("", ""), 4, ""},
  };
  for (const auto& c : cases) {
    KnownStore known = c.known, closed = c.closed;
    known.MoveTo("5");
    closed.MoveTo(std::to_string(c.version));
    known.NoteClosed(closed);
    EXPECT_EQ(Closed(known), c.noted) << known.scope.ToString() << closed.scope.ToString();
  }
}

TEST(KnownStore, AnObjectThatAClosedWatchDidNotHaveIsGone) {
  KnownStore known = Known("a", ""), all = Known("", "");
  known.MoveTo("5");
  known.store->Put(Widget("a/x", 4));
  all.MoveTo("7");
  known.NoteClosed(all);
  EXPECT_TRUE(known.HasLeft(*Widget("a/y", 7)));
  EXPECT_FALSE(known.HasLeft(*Widget("a/y", 8))) << "created since";
  EXPECT_FALSE(known.HasLeft(*Widget("a/x", 4))) << "it is here";
  known.MoveTo("7");
  EXPECT_FALSE(known.HasLeft(*Widget("a/y", 7)));
}

// It has no other labels here, so the store itself does not have it.
TEST(KnownStore, WhatAClosedWatchHadWithoutTheLabelsHasLeft) {
  for (const bool is_selected : {false, true}) {
    const char* labels = is_selected ? "app in (web,db)" : "";
    SCOPED_TRACE(labels);
    KnownStore web = Known("a", "", "app=web"), other = Known("", "", labels);
    web.MoveTo("5");
    other.MoveTo("6");
    other.store->Put(Widget("a/new", 8, "", "app=db"));  // from a third watch
    other.store->Put(Widget("a/old", 5, "", "app=db"));
    other.store->Put(Widget("a/its", 6, "", "app=db"));
    other.store->Put(Widget("a/web", 8, "", "app=web"));
    other.store->Put(Widget("b/new", 8, "", "app=db"));
    web.NoteClosed(other);
    EXPECT_TRUE(web.HasLeft(*Widget("a/new", 7, "", "app=web")));
    EXPECT_FALSE(web.HasLeft(*Widget("a/new", 8, "", "app=web")));
    EXPECT_TRUE(web.HasLeft(*Widget("a/its", 5, "", "app=web")));
    // Up to its version, a watch without a selector knew all objects.
    EXPECT_EQ(web.left.size(), is_selected ? 2u : 1u);
    EXPECT_TRUE(web.IsAhead());
    web.MoveTo("6");
    EXPECT_FALSE(web.IsAhead());
  }
}

TEST(KnownStore, AfterFollowingItKnowsWhatTheWiderOneHadNoted) {
  KnownStore wider = Known("", "", "app"), known = Known("a", "", "app");
  KnownStore in_a = Known("a", ""), in_b = Known("b", "");
  wider.MoveTo("5");
  known.MoveTo("3");
  known.followed = &wider;
  in_a.MoveTo("8");
  in_b.MoveTo("9");
  for (KnownStore* noting : {&known, &wider}) {
    noting->NoteLeft(*Widget("a/x", 7));
    noting->NoteLeft(*Widget("b/x", 7));
    noting->NoteClosed(in_a);
    noting->NoteClosed(in_b);
  }
  EXPECT_EQ(Closed(known), "") << "the wider one notes it";
  EXPECT_FALSE(known.IsAhead());
  known.Unfollow();
  EXPECT_EQ(known.followed, nullptr);
  EXPECT_TRUE(known.IsAhead());
  EXPECT_EQ(known.version(), "5");
  EXPECT_EQ(known.store->resource_version(), "5");
  EXPECT_EQ(Closed(known), "a/@8 ");
  EXPECT_EQ(known.left.size(), 1u);
  EXPECT_TRUE(known.left.contains({"a", "x"}));
}

}  // namespace
}  // namespace mandate
