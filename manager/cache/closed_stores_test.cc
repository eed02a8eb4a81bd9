#include "manager/cache/closed_stores.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/cache/testing/watch_json.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

std::shared_ptr<KnownStore> Known(std::string ns, std::string name, int version,
                                  std::string labels = "") {
  auto known = std::make_shared<KnownStore>(
      DemandSpec{kWidget, std::move(ns), std::move(name), std::move(labels)},
      std::make_shared<ObjectStore>(), nullptr, 10);
  known->MoveTo(StrCat(version));
  return known;
}

std::string Text(const KnownStore& known) {
  return StrCat(known.scope.ns, "/", known.scope.name, known.scope.labels, "@", known.version());
}

std::vector<std::string> Concerned(const ClosedStores& closed, std::string_view key) {
  std::vector<std::string> found;
  closed.ForEach(*Widget(key, 1), [&](KnownStore& known) { found.push_back(Text(known)); });
  return found;
}

std::vector<std::string> Overlapping(const ClosedStores& closed, const KnownStore& known) {
  std::vector<std::string> found;
  closed.ForEachOverlapping(known, [&](KnownStore& other) { found.push_back(Text(other)); });
  return found;
}

TEST(ClosedStoresTest, FindsWhatConcernsAnObjectOrAScope) {
  ClosedStores closed(100);
  for (const auto& known :
       {Known("", "", 1), Known("a", "", 2), Known("a", "x", 3), Known("b", "", 4),
        Known("a", "", 5, "colour=red"), Known("a", "y", 6), Known("", "x", 7)}) {
    EXPECT_EQ(closed.Add(known), 0u);
  }
  EXPECT_THAT(Concerned(closed, "a/x"),
              UnorderedElementsAre("/@1", "/x@7", "a/@2", "a/colour=red@5", "a/x@3"));
  EXPECT_THAT(Concerned(closed, "c/z"), ElementsAre("/@1"));
  EXPECT_THAT(Overlapping(closed, *Known("b", "", 1)), UnorderedElementsAre("/@1", "/x@7", "b/@4"));
  EXPECT_THAT(Overlapping(closed, *Known("a", "y", 1)),
              UnorderedElementsAre("/@1", "a/@2", "a/colour=red@5", "a/y@6"));
  EXPECT_EQ(Overlapping(closed, *Known("", "", 1)).size(), 7u);
  int all = 0;
  closed.ForEach([&](const KnownStore&) { ++all; });
  EXPECT_EQ(all, 7);
}

TEST(ClosedStoresTest, AScopeHasTheOneThatGotFurthest) {
  ClosedStores closed(100);
  closed.Add(Known("a", "", 5));
  closed.Add(Known("a", "", 7));
  EXPECT_THAT(Concerned(closed, "a/x"), ElementsAre("a/@7"));
  closed.Add(Known("a", "", 6));
  EXPECT_THAT(Concerned(closed, "a/x"), ElementsAre("a/@7"));
}

TEST(ClosedStoresTest, ForgetsTheFirstOfTooMany) {
  ClosedStores closed(2);
  EXPECT_EQ(closed.Add(Known("a", "", 1)), 0u);
  EXPECT_EQ(closed.Add(Known("b", "", 2)), 0u);
  EXPECT_EQ(closed.Add(Known("a", "", 3)), 0u) << "it has a place";
  EXPECT_EQ(closed.Add(Known("c", "", 4)), 1u);
  EXPECT_THAT(Overlapping(closed, *Known("", "", 1)), ElementsAre("a/@3", "c/@4"));
}

TEST(ClosedStoresTest, WhatWasSweptHasNoPlace) {
  ClosedStores closed(2);
  closed.Add(Known("a", "", 1));
  closed.Add(Known("b", "", 2));
  closed.Sweep(*Known("a", "", 1), [](const KnownStore&) { return false; });
  EXPECT_EQ(closed.Add(Known("c", "", 3)), 0u);
  EXPECT_EQ(closed.Add(Known("d", "", 4)), 1u);
  EXPECT_THAT(Overlapping(closed, *Known("", "", 1)), ElementsAre("c/@3", "d/@4"));
}

TEST(ClosedStoresTest, SweepsOnlyWhatOverlaps) {
  ClosedStores closed(100);
  closed.Add(Known("a", "", 1));
  closed.Add(Known("b", "", 2));
  closed.Sweep(*Known("a", "x", 1), [](const KnownStore&) { return true; });
  EXPECT_EQ(closed.size(), 2u);
  closed.Sweep(*Known("a", "x", 1), [](const KnownStore&) { return false; });
  EXPECT_THAT(Overlapping(closed, *Known("", "", 1)), ElementsAre("b/@2"));
  closed.Sweep(*Known("", "", 1), [](const KnownStore&) { return false; });
  EXPECT_TRUE(closed.empty());
  EXPECT_THAT(Concerned(closed, "b/x"), IsEmpty());
  EXPECT_EQ(closed.Add(Known("b", "", 1)), 0u);
}

}  // namespace
}  // namespace mandate
