// Demands whose label selector the server applies.
#include <gtest/gtest.h>

#include <string>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"

namespace mandate {
namespace {

class SelectedDemandTest : public CacheFixture {
 protected:
  static absl::StatusCode Get(const CacheView& view, const std::string& ns,
                              const std::string& name) {
    return view.GetRaw({}, kWidget, {ns, name}).status().code();
  }
  // The objects, or the code of the error.
  static std::string List(const CacheView& view, const std::string& ns, const char* selector) {
    const auto listed = view.ListRawSelected({}, kWidget, ns, *LabelSelector::Parse(selector));
    return listed.ok() ? Text(*listed) : absl::StatusCodeToString(listed.status().code());
  }
};

TEST_F(SelectedDemandTest, OnlyMatchingObjectsLeaveTheServer) {
  server_.Put("foo/web", {{"app", "web"}});
  server_.Put("foo/db", {{"app", "db"}});
  server_.Put("bar/web", {{"app", "web"}});
  CacheView& view = AddGranted(a_);
  Demanded web = DemandSelected(view, "foo", "app=web");
  Settle();
  EXPECT_EQ(web.Take(), "!+foo/web@101 Synced");
  ASSERT_EQ(a_.requests().size(), 1u);
  EXPECT_NE(a_.requests()[0].find("labelSelector=app%3Dweb"), std::string::npos)
      << a_.requests()[0];

  server_.Put("foo/db", {{"app", "web"}});
  server_.Put("foo/web", {{"app", "db"}});
  Settle();
  EXPECT_EQ(web.Take(), "+foo/db@104 -foo/web@105");
}

TEST_F(SelectedDemandTest, AnswersOnlyForWhatItSelects) {
  server_.Put("foo/web", {{"app", "web"}});
  server_.Put("foo/db", {{"app", "db"}});
  CacheView& view = AddGranted(a_);
  Demanded web = DemandSelected(view, "foo", "app=web");
  EXPECT_EQ(Get(view, "foo", "web"), absl::StatusCode::kUnavailable) << "not synced yet";
  Settle();
  EXPECT_EQ(Get(view, "foo", "web"), absl::StatusCode::kOk);
  // That it does not have the object proves nothing.
  EXPECT_EQ(Get(view, "foo", "db"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Get(view, "foo", "none"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Get(view, "bar", "web"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(List(view, "foo", "app=web"), "foo/web@101");
  EXPECT_EQ(List(view, "foo", "app=web,tier=x"), "") << "these are among the others";
  EXPECT_EQ(List(view, "foo", "app"), "FAILED_PRECONDITION");
  EXPECT_EQ(List(view, "", "app=web"), "FAILED_PRECONDITION");
  EXPECT_EQ(view.ListRaw({}, kWidget, "foo").status().code(),
            absl::StatusCode::kFailedPrecondition);

  Demanded all = DemandAndSettle(view, "foo");
  EXPECT_EQ(List(view, "foo", "app"), "foo/db@102 foo/web@101");
  EXPECT_EQ(Get(view, "foo", "none"), absl::StatusCode::kNotFound);
}

TEST_F(SelectedDemandTest, AReadByKeyLooksIntoEachSelector) {
  server_.Put("foo/web", {{"app", "web"}});
  CacheView& view = AddGranted(a_);
  Demanded web = DemandSelected(view, "foo", "app=web");
  Demanded db = DemandSelected(view, "", "app=db");
  Settle();
  EXPECT_EQ(Get(view, "foo", "web"), absl::StatusCode::kOk);
  server_.Put("foo/web", {{"app", "db"}});
  Settle();
  EXPECT_EQ(Get(view, "foo", "web"), absl::StatusCode::kOk);
  // If a selector that may have it cannot be read, absence is not known either.
  server_.Revoke("a");
  EndWatches(a_);
  BreakServer();
  server_.Delete("foo/web");
  Settle();
  EXPECT_EQ(Get(view, "foo", "none"), absl::StatusCode::kUnavailable);
}

TEST_F(SelectedDemandTest, WhatOneSelectorHasNeedsNoOther) {
  server_.Grant("a", "foo");
  server_.Put("foo/web", {{"app", "web"}});
  CacheView& view = Add(a_);
  Demanded db = DemandSelected(view, "", "app=db");
  Demanded web = DemandSelected(view, "foo", "app=web");
  Settle();
  ASSERT_EQ(db.state(), DemandState::kForbidden);
  EXPECT_EQ(Get(view, "foo", "web"), absl::StatusCode::kOk);
  EXPECT_EQ(Get(view, "foo", "none"), absl::StatusCode::kPermissionDenied);
}

// Its watch may stay open for a while.
TEST_F(SelectedDemandTest, AReleasedDemandAnswersNothing) {
  options_.close_unused_watch_after = absl::Minutes(1);
  server_.Put("foo/web", {{"app", "web"}});
  CacheView& view = AddGranted(a_);
  Demanded web = DemandSelected(view, "foo", "app=web");
  Settle();
  ASSERT_EQ(Get(view, "foo", "web"), absl::StatusCode::kOk);
  Leave(web);
  ASSERT_EQ(server_.live_watches(), 1u);
  EXPECT_EQ(Get(view, "foo", "web"), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(List(view, "foo", "app=web"), "FAILED_PRECONDITION");
}

TEST_F(SelectedDemandTest, TheErrorSaysWhatWouldAnswer) {
  CacheView& view = AddGranted(a_);
  Demanded web = DemandSelected(view, "foo", "app=web");
  Settle();
  EXPECT_EQ(view.GetRaw({}, kWidget, {"foo", "x"}).status().message(),
            "widgets.example.com \"x\" in namespace foo is in none of the 1 demands of a with a "
            "label selector; whether it exists with other labels is unknown: demand it by name, or "
            "its namespace without a selector");
}

}  // namespace
}  // namespace mandate
