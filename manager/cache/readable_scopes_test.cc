#include "manager/cache/readable_scopes.h"

#include <gtest/gtest.h>

#include "manager/cache/testing/watch_json.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

TEST(ReadableScopesTest, DemandsOfOneScopeShareOneEntry) {
  ReadableScopes scopes;
  const auto first = scopes.Acquire({kWidget, "foo", ""});
  EXPECT_EQ(scopes.Acquire({kWidget, "foo", ""}), first);
  EXPECT_EQ(first->demands(), 2);
  EXPECT_NE(scopes.Acquire({kWidget, "bar", ""}), first);
  EXPECT_EQ(scopes.FindCovering({kWidget, "foo", ""}), std::vector{first});
  EXPECT_TRUE(scopes.FindCovering({kWidget, "bar", ""}).empty()) << "nobody holds it";
  first->Release();
  first->Release();
  EXPECT_TRUE(scopes.FindCovering({kWidget, "foo", ""}).empty());
}

// A component may read thousands of namespaces, one after the other.
TEST(ReadableScopesTest, EntriesWithoutHoldersAreRemoved) {
  ReadableScopes scopes;
  const auto kept = scopes.Acquire({kWidget, "", ""});
  for (int i = 0; i < 10'000; ++i) scopes.Acquire({kWidget, StrCat("ns", i), ""})->Release();
  EXPECT_LE(scopes.size(), 64u);
  EXPECT_EQ(scopes.FindCovering({kWidget, "", ""}), std::vector{kept});
}

TEST(ReadableScopesTest, AScopeIsCoveredByItselfAndByWiderOnes) {
  ReadableScopes scopes;
  const KindInfo metadata = MetadataOf(kWidget);
  const auto add = [&](const KindInfo& kind, std::string ns, std::string name,
                       std::string labels = "") {
    return scopes.Acquire({kind, std::move(ns), std::move(name), std::move(labels)});
  };
  const auto all = add(kWidget, "", "");
  const auto in_foo = add(kWidget, "foo", "");
  const auto x = add(kWidget, "foo", "x");
  const auto all_metadata = add(metadata, "", "");
  const auto x_metadata = add(metadata, "foo", "x");
  const auto other = add(kWidget, "bar", "x");
  const auto red = add(kWidget, "foo", "", "colour=red");
  const auto red_everywhere = add(kWidget, "", "", "colour=red");
  using Found = std::vector<std::shared_ptr<ReadableScope>>;
  const struct {
    DemandSpec asked;
    Found found;
  } kCases[] = {
      {{kWidget, "", ""}, {all}},
      {{kWidget, "foo", ""}, {all, in_foo}},
      {{kWidget, "foo", "x"}, {all, in_foo, x}},
      {{kWidget, "foo", "y"}, {all, in_foo}},
      {{kWidget, "bar", "x"}, {all, other}},
      {{metadata, "foo", "x"}, {all_metadata, x_metadata, all, in_foo, x}},
  };
  for (const auto& c : kCases) {
    EXPECT_EQ(scopes.FindCovering(c.asked), c.found) << c.asked.ToString();
  }
  EXPECT_EQ(scopes.FindSelected(kWidget, "foo"), Found{red});
  EXPECT_EQ(scopes.FindSelected(kWidget, ""), Found{red_everywhere});
  EXPECT_TRUE(scopes.FindSelected(kWidget, "bar").empty());
}

}  // namespace
}  // namespace mandate
