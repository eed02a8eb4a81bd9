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

}  // namespace
}  // namespace mandate
