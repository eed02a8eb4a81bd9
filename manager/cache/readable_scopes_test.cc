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
  EXPECT_EQ(scopes.Find({{kWidget, "", ""}, {kWidget, "foo", ""}, {kWidget, "bar", ""}}),
            std::vector{first})
      << "the scope bar has no demands";
  first->Release();
  first->Release();
  EXPECT_TRUE(scopes.Find({{kWidget, "foo", ""}}).empty());
}

// A component may read thousands of namespaces, one after the other.
TEST(ReadableScopesTest, EntriesWithoutHoldersAreRemoved) {
  ReadableScopes scopes;
  const auto kept = scopes.Acquire({kWidget, "", ""});
  for (int i = 0; i < 10'000; ++i) scopes.Acquire({kWidget, StrCat("ns", i), ""})->Release();
  EXPECT_LE(scopes.size(), 64u);
  EXPECT_EQ(scopes.Find({{kWidget, "", ""}}), std::vector{kept});
}

}  // namespace
}  // namespace mandate
