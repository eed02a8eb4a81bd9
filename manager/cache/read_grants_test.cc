#include "manager/cache/read_grants.h"

#include <gtest/gtest.h>

#include "manager/cache/testing/watch_json.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

TEST(ReadGrantsTest, AScopeHasOneGrantWhileItIsHeld) {
  ReadGrants grants;
  const auto first = grants.Acquire({kWidget, "foo", ""});
  EXPECT_EQ(grants.Acquire({kWidget, "foo", ""}), first);
  EXPECT_EQ(first->demands(), 2);
  EXPECT_NE(grants.Acquire({kWidget, "bar", ""}), first);
  EXPECT_EQ(grants.Find({{kWidget, "", ""}, {kWidget, "foo", ""}, {kWidget, "bar", ""}}),
            std::vector{first})
      << "the grant of bar has ended";
  first->Release();
  first->Release();
  EXPECT_TRUE(grants.Find({{kWidget, "foo", ""}}).empty());
}

// A component may read thousands of namespaces, one after the other.
TEST(ReadGrantsTest, EndedGrantsAreRemoved) {
  ReadGrants grants;
  const auto kept = grants.Acquire({kWidget, "", ""});
  for (int i = 0; i < 10'000; ++i) grants.Acquire({kWidget, StrCat("ns", i), ""})->Release();
  EXPECT_LE(grants.size(), 64u);
  EXPECT_EQ(grants.Find({{kWidget, "", ""}}), std::vector{kept});
}

}  // namespace
}  // namespace mandate
