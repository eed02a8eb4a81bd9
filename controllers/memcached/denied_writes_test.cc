#include "controllers/memcached/denied_writes.h"

#include <gtest/gtest.h>

#include "manager/core/strings.h"

namespace mandate::memcached {
namespace {

TEST(DeniedWritesTest, ManyOfANamespaceAskNoMoreOftenThanAFew) {
  DeniedWrites denied;
  for (int i = 0; i < 600; ++i) denied.Add({"full", StrCat("m", i)});
  EXPECT_EQ(denied.Add({"full", "m7"}), absl::Minutes(2)) << "it is counted once";
  EXPECT_EQ(denied.Add({"other", "m7"}), DeniedWrites::kShortest);
}

TEST(DeniedWritesTest, ThoseThatAreWrittenOrGoneDoNotCount) {
  DeniedWrites denied;
  for (int i = 0; i < 600; ++i) denied.Add({"full", StrCat("m", i)});
  for (int i = 0; i < 500; ++i) denied.Remove({"full", StrCat("m", i)});
  denied.Remove({"full", "m0"});
  denied.Remove({"unknown", "m0"});
  EXPECT_EQ(denied.Add({"full", "m500"}), absl::Seconds(20));
  for (int i = 500; i < 600; ++i) denied.Remove({"full", StrCat("m", i)});
  EXPECT_EQ(denied.Add({"full", "m1"}), DeniedWrites::kShortest);
}

}  // namespace
}  // namespace mandate::memcached
