#include "controllers/scope/awaited_bindings.h"

#include <gtest/gtest.h>

namespace mandate::scope {
namespace {

class AwaitedBindingsTest : public testing::Test {
 protected:
  // `changed`: a binding of the role "r" that changes during the read.
  bool Read(const AwaitedBindings::ByRole& bindings, const std::string& changed = "") {
    return awaited_.TrackUntilChanged(key_, [&] {
      EXPECT_FALSE(awaited_.NoteChange(key_, "r", changed));
      return bindings;
    });
  }

  const ObjectKey key_{"", "foo"};
  AwaitedBindings awaited_;
};

TEST_F(AwaitedBindingsTest, TheLastOneTells) {
  EXPECT_FALSE(awaited_.NoteChange(key_, "r", "a")) << "nothing is known of the template";
  EXPECT_TRUE(Read({{"r", {"a", "b"}}, {"s", {"c"}}, {"t", {}}}));
  EXPECT_FALSE(awaited_.NoteChange(key_, "r", "a"));
  EXPECT_FALSE(awaited_.NoteChange(key_, "r", "a")) << "it counts once";
  EXPECT_FALSE(awaited_.NoteChange(key_, "r", "c")) << "another role's";
  EXPECT_FALSE(awaited_.NoteChange(key_, "t", "a"));
  EXPECT_FALSE(awaited_.NoteChange({"", "bar"}, "r", "b")) << "another template";
  EXPECT_TRUE(awaited_.NoteChange(key_, "r", "b"));
  EXPECT_FALSE(awaited_.NoteChange(key_, "r", "b")) << "told once";
  EXPECT_TRUE(awaited_.NoteChange(key_, "s", "c")) << "each role for itself";
}

TEST_F(AwaitedBindingsTest, ReadBindingsReplaceEarlierOnes) {
  EXPECT_TRUE(Read({{"r", {"a", "b"}}, {"s", {"c"}}}));
  EXPECT_TRUE(Read({{"r", {"b"}}}));
  EXPECT_FALSE(awaited_.NoteChange(key_, "s", "c"));
  EXPECT_TRUE(awaited_.NoteChange(key_, "r", "b"));
  EXPECT_TRUE(Read({}));
  EXPECT_FALSE(awaited_.NoteChange(key_, "r", "b"));
  EXPECT_TRUE(Read({{"r", {"a"}}}));
  awaited_.Forget(key_);
  EXPECT_FALSE(awaited_.NoteChange(key_, "r", "a"));
}

// The reader may have seen the binding's earlier state.
TEST_F(AwaitedBindingsTest, DoesNotWaitForBindingsChangedWhileReading) {
  EXPECT_TRUE(Read({{"r", {"a", "b"}}}, "a"));
  EXPECT_TRUE(awaited_.NoteChange(key_, "r", "b"));

  EXPECT_FALSE(Read({{"r", {"a"}}, {"s", {"c"}}}, "a")) << "no event of r comes";
  EXPECT_TRUE(awaited_.NoteChange(key_, "s", "c"));
  EXPECT_TRUE(Read({{"r", {"a"}}})) << "it counts for one reading";
}

}  // namespace
}  // namespace mandate::scope
