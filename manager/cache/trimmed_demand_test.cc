// Demands of a kind that is trimmed to short names, on the double of an API server.
#include <gtest/gtest.h>

#include <string>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/cache/testing/widget_objects.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// The version, and three bytes of the name.
ObjectPtr Short(ObjectPtr object) {
  return ParseRawObject(StrCat(R"({"metadata":{"namespace":")", object->ns(), R"(","name":")",
                               object->name().substr(0, 3), R"(","uid":")", object->uid(),
                               R"(","resourceVersion":")", object->resource_version(), R"("}})"),
                        Encoding::kJson)
      .value_or(nullptr);
}

constexpr KindInfo kShort = [] {
  KindInfo kind = kWidget;
  kind.trim = Short;
  return kind;
}();

class TrimmedDemandTest : public CacheFixture {
 protected:
  void DemandShort(CacheView& view) {
    demanded_.handle = view.Demand({kShort, "", ""}, demanded_.sink);
    Settle();
  }

  Demanded demanded_;
};

TEST_F(TrimmedDemandTest, AnObjectIsFoundAndRemovedByItsShortName) {
  server_.Put("foo/long-1");
  CacheView& view = AddGranted(a_);
  DemandShort(view);
  EXPECT_EQ(demanded_.Take(), "!+foo/lon@101 Synced");
  EXPECT_TRUE(view.GetRaw({}, kShort, {"foo", "lon"}).ok());
  PutAndSettle("foo/long-1");
  EXPECT_EQ(demanded_.Take(), "~foo/lon@102");
  server_.Delete("foo/long-1");
  Settle();
  EXPECT_EQ(demanded_.Take(), "-foo/lon@103");
  EXPECT_TRUE(absl::IsNotFound(view.GetRaw({}, kShort, {"foo", "lon"}).status()));
}

TEST_F(TrimmedDemandTest, AListThatIsReadAgainHasTheSameNames) {
  server_.Put("foo/long-1");
  server_.faults().no_watch_list = 1;
  CacheView& view = AddGranted(a_);
  DemandShort(view);
  EXPECT_EQ(demanded_.Take(), "!+foo/lon@101 Synced");
  a_.watches().back()->Close(absl::UnavailableError("connection refused"));
  server_.Delete("foo/long-1");
  server_.Put("foo/other");
  Settle();
  EXPECT_EQ(demanded_.Take(), "-foo/lon@102 +foo/oth@103");
}

TEST_F(TrimmedDemandTest, AnObjectThatIsDeletedBeforeTheInitialStateIsCompleteIsNotHeld) {
  CacheView& view = AddGranted(a_);
  a_.OnWatch([](const std::shared_ptr<FakeWatch>& watch) {
    watch->Open();
    watch->Send(EventJson("ADDED", WidgetJson("foo/long-1", 5)) +
                EventJson("ADDED", WidgetJson("foo/other", 6)) +
                EventJson("DELETED", WidgetJson("foo/long-1", 7)) + BookmarkJson("10", true));
  });
  DemandShort(view);
  EXPECT_EQ(demanded_.Take(), "!+foo/oth@6 Synced");
  EXPECT_TRUE(absl::IsNotFound(view.GetRaw({}, kShort, {"foo", "lon"}).status()));
}

}  // namespace
}  // namespace mandate
