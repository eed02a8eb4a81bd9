#include "manager/cache/closed_scopes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/core/strings.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Text(const ClosedScopes& closed) {
  std::vector<std::string> text;
  closed.ForEach([&](std::string_view ns, std::string_view name, uint64_t version) {
    text.push_back(StrCat(ns, "/", name, "@", version));
  });
  return text;
}

TEST(ClosedScopesTest, KnewTheObjectsOfItsScopesUpToTheirVersions) {
  const struct {
    const char *ns, *name;  // the closed scope, at version 5
    bool a_x, a_y, b_x;     // whether it has these objects
  } cases[] = {
      {"", "", true, true, true},     {"", "x", true, false, true},    {"a", "", true, true, false},
      {"a", "x", true, false, false}, {"b", "y", false, false, false},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(StrCat(c.ns, "/", c.name));
    ClosedScopes closed(9);
    EXPECT_FALSE(closed.Knew("a", "x", 1));
    closed.Add(c.ns, c.name, 5);
    for (const auto& [version, known] : {std::pair(4, true), {5, true}, {6, false}}) {
      EXPECT_EQ(closed.Knew("a", "x", version), c.a_x && known);
      EXPECT_EQ(closed.Knew("a", "y", version), c.a_y && known);
      EXPECT_EQ(closed.Knew("b", "x", version), c.b_x && known);
    }
  }
}

TEST(ClosedScopesTest, AScopeHasItsLatestVersion) {
  ClosedScopes closed(9);
  for (const uint64_t version : {5, 7, 6}) closed.Add("a", "", version);
  EXPECT_THAT(Text(closed), ElementsAre("a/@7"));
}

TEST(ClosedScopesTest, ForgetsWhatTheStoresOwnWatchHasReached) {
  ClosedScopes closed(9);
  closed.Add("a", "", 5);
  closed.Add("b", "", 7);
  closed.Add("c", "", 3);
  closed.MoveTo(2);
  EXPECT_EQ(closed.size(), 3u);
  closed.MoveTo(5);
  EXPECT_THAT(Text(closed), ElementsAre("b/@7"));
  closed.MoveTo(6);
  EXPECT_THAT(Text(closed), ElementsAre("b/@7"));
  closed.MoveTo(9);
  EXPECT_TRUE(closed.empty());
  closed.Add("a", "", 10);
  closed.MoveTo(10);
  EXPECT_THAT(Text(closed), IsEmpty());
}

TEST(ClosedScopesTest, ForgetsTheOldestOfTooMany) {
  prometheus::Counter forgotten;
  ClosedScopes closed(2, &forgotten);
  closed.Add("a", "", 5);
  closed.Add("b", "", 4);
  closed.Add("a", "", 6);
  EXPECT_EQ(forgotten.Value(), 0) << "it has a place";
  closed.Add("c", "", 7);
  EXPECT_EQ(forgotten.Value(), 1);
  EXPECT_THAT(Text(closed), ElementsAre("a/@6", "c/@7"));
  ClosedScopes none(0);
  none.Add("a", "", 5);
  EXPECT_THAT(Text(none), IsEmpty());
}

}  // namespace
}  // namespace mandate
