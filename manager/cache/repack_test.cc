// When a scope is lost or closed, the kind's other objects are compressed anew if they need it.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

class RepackTest : public CacheFixture {
 protected:
  static constexpr int kObjects = 100;

  void SetUp() override {
    options_.packing = {.min_object_bytes = 1, .sample_bytes = 8000, .dictionary_bytes = 1000};
    options_.max_repacked_per_loop_turn = 1;
    options_.reflector.watch_list = false;
    options_.reflector.page_size = kObjects / 2;
    const std::map<std::string, std::string> labels = {{"a-label-of-all", std::string(60, 'v')},
                                                       {"another", std::string(60, 'w')}};
    for (const char* ns : {"foo", "bar"}) {
      for (int i = 100; i < 100 + kObjects; ++i) server_.Put(StrCat(ns, "/", i), labels);
    }
    server_.Grant("a", "foo");
    server_.Grant("a", "bar");
    view_ = &Add(a_);
  }
  double Repacked() {
    return metrics_
        .Counter("mandate_cache_repacked_objects_total", "", {{"kind", ResourceName(kWidget)}})
        .Value();
  }
  void RevokeAndSettle(const std::string& ns) {
    server_.Revoke("a", ns);
    RetryAndSettle("a");
  }

  CacheView* view_ = nullptr;
};

TEST_F(RepackTest, OnlyWhatWasMadeFromTheLostScope) {
  const Demanded foo = DemandAndSettle(*view_, "foo");
  const Demanded bar = DemandAndSettle(*view_, "bar");
  ASSERT_EQ(bar.state(), DemandState::kSynced);
  RevokeAndSettle("bar");
  ASSERT_EQ(bar.state(), DemandState::kForbidden);
  EXPECT_EQ(Repacked(), 0);
  server_.Grant("a", "bar");
  RetryAndSettle("a");
  ASSERT_EQ(bar.state(), DemandState::kSynced);
  const std::string content = bar.sink->Content();
  RevokeAndSettle("foo");
  ASSERT_EQ(foo.state(), DemandState::kForbidden);
  EXPECT_EQ(Repacked(), kObjects);
  EXPECT_EQ(bar.sink->Content(), content);
  EXPECT_EQ(bar.state(), DemandState::kSynced);
}

TEST_F(RepackTest, OfAClosedScope) {
  Demanded foo = DemandAndSettle(*view_, "foo");
  const Demanded bar = DemandAndSettle(*view_, "bar");
  Leave(foo);
  EXPECT_EQ(Repacked(), kObjects);
}

// The first page came, and the second one is forbidden.
TEST_F(RepackTest, OfAListThatWasNotCompleted) {
  a_.SetDelay([] { return absl::Milliseconds(100); });
  const Demanded foo = Demand(*view_, "foo");
  loop_.RunFor(absl::Milliseconds(250));
  server_.Revoke("a", "foo");
  a_.SetDelay([] { return absl::ZeroDuration(); });
  const Demanded bar = DemandAndSettle(*view_, "bar");
  ASSERT_EQ(bar.state(), DemandState::kSynced);
  ASSERT_EQ(foo.state(), DemandState::kForbidden);
  EXPECT_GT(Repacked(), 0);
}

}  // namespace
}  // namespace mandate
