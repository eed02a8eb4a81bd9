#include "manager/cache/initial_events.h"

#include <gtest/gtest.h>

#include "manager/cache/testing/watch_json.h"

namespace mandate {
namespace {

TEST(InitialEventsTest, AreMadeOnceAndForgotten) {
  auto store = std::make_shared<ObjectStore>();
  InitialEvents initial(store);
  EXPECT_EQ(Text(*initial.Get()), "");
  store->Put(Widget("foo/y", 1));
  store->Put(Widget("bar/x", 2));
  EXPECT_EQ(Text(*initial.Get()), "") << "nobody has said that it changed";
  initial.Forget();
  const auto events = initial.Get();
  EXPECT_EQ(Text(*events), "!+bar/x@2 !+foo/y@1");
  EXPECT_EQ(initial.Get(), events);
  initial.Forget();
  EXPECT_EQ(Text(*events), "!+bar/x@2 !+foo/y@1") << "whoever is being told goes on";
  EXPECT_NE(initial.Get(), events);
}

}  // namespace
}  // namespace mandate
