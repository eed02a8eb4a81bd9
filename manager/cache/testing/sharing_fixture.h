// Two components with the same demand.
#ifndef MANAGER_CACHE_TESTING_SHARING_FIXTURE_H_
#define MANAGER_CACHE_TESTING_SHARING_FIXTURE_H_

#include <gtest/gtest.h>

#include <string>

#include "manager/cache/testing/cache_fixture.h"

namespace mandate {

inline constexpr const char* kReviews = "selfsubjectaccessreviews";

// Single-threaded.
class SharingFixture : public CacheFixture {
 protected:
  void SetUp() override {
    server_.Put("foo/x");
    CreateAndAdd(MakeOptions());
  }
  void CreateAndAdd(Cache::Options options) {
    Create(std::move(options));
    view_a_ = &Add(a_);
    view_b_ = &Add(b_);
  }
  void GrantBoth() {
    server_.Grant("a");
    server_.Grant("b");
  }
  // Both synced, on one watch that runs as a.
  void JoinBoth() {
    GrantBoth();
    of_a_ = DemandAndSettle(*view_a_);
    of_b_ = DemandAndSettle(*view_b_);
    ASSERT_EQ(of_a_.Take(), "!+foo/x@101 Synced");
    ASSERT_EQ(of_b_.Take(), "!+foo/x@101 Synced");
    ASSERT_EQ(server_.live_watches(), 1u);
  }
  // A third component, which joins after both.
  void JoinAll() {
    view_c_ = &AddGranted(c_);
    JoinBoth();
    of_c_ = DemandAndSettle(*view_c_);
  }
  bool Reads(CacheView& view) { return view.GetRaw({}, kWidget, {"foo", "x"}).ok(); }
  absl::StatusCode Code(CacheView& view) {
    return view.GetRaw({}, kWidget, {"foo", "x"}).status().code();
  }
  static void CloseWatch(FakeRestClient& client) { client.watches().back()->Close(); }
  void NoViolations() {
    for (const Demanded* demanded : {&of_a_, &of_b_, &of_c_}) {
      for (const std::string& violation : demanded->sink->violations()) ADD_FAILURE() << violation;
    }
  }

  CacheView* view_a_ = nullptr;
  CacheView* view_b_ = nullptr;
  CacheView* view_c_ = nullptr;
  Demanded of_a_;
  Demanded of_b_;
  Demanded of_c_;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_TESTING_SHARING_FIXTURE_H_
