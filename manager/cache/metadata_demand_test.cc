// Demands of metadata, on the double of an API server.
#include <gtest/gtest.h>

#include <string>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr KindInfo kMetadata = MetadataOf(kWidget);

class MetadataDemandTest : public CacheFixture {
 protected:
  Demanded DemandMetadata(CacheView& view, std::string ns = "", std::string labels = "") {
    Demanded demanded;
    metadata_sinks_.push_back(demanded.sink);
    demanded.handle = view.Demand({kMetadata, std::move(ns), "", std::move(labels)}, demanded.sink);
    Settle();
    return demanded;
  }
  static std::string Bytes(const CacheView& view, const KindInfo& kind) {
    const auto object = view.GetRaw({}, kind, {"foo", "x"});
    return object.ok() ? (*object)->bytes() : absl::StatusCodeToString(object.status().code());
  }

  std::vector<std::shared_ptr<RecordingSink>> metadata_sinks_;
};

TEST_F(MetadataDemandTest, NothingElseReachesTheProcess) {
  server_.Put("foo/x", {{"app", "web"}});
  CacheView& view = AddGranted(a_);
  Demanded demanded = DemandMetadata(view);
  EXPECT_EQ(demanded.Take(), "!+foo/x@101 Synced");
  EXPECT_EQ(Bytes(view, kMetadata).find("Widget"), std::string::npos) << "a PartialObjectMetadata";
  EXPECT_EQ((*view.GetRaw({}, kMetadata, {"foo", "x"}))->Header().labels.at("app"), "web");
  EXPECT_EQ(view.GetRaw({}, kMetadata, {"foo", "y"}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Bytes(view, kWidget), "FAILED_PRECONDITION") << "it answers for no whole object";
  PutAndSettle("foo/x");
  PutAndSettle("foo/y");
  server_.Delete("foo/x");
  Settle();
  EXPECT_EQ(demanded.Take(), "~foo/x@102 +foo/y@103 -foo/x@104");
  EXPECT_EQ(a_.requests().size(), 1u);
}

TEST_F(MetadataDemandTest, ListsInPagesWhereWatchesCannotBegin) {
  for (int i = 0; i < 5; ++i) server_.Put("foo/" + std::to_string(i));
  server_.faults().no_watch_list = 1;
  options_.reflector.page_size = 2;
  CacheView& view = AddGranted(a_);
  Demanded demanded = DemandMetadata(view, "foo");
  EXPECT_EQ(Text(*view.ListRaw({}, kMetadata, "foo")),
            "foo/0@101 foo/1@102 foo/2@103 foo/3@104 foo/4@105");
}

TEST_F(MetadataDemandTest, WholeObjectsAnswerForTheirMetadata) {
  server_.Put("foo/x");
  CacheView& view = AddGranted(a_);
  EXPECT_EQ(Bytes(view, kMetadata), "FAILED_PRECONDITION");
  Demanded whole = DemandAndSettle(view);
  EXPECT_NE(Bytes(view, kMetadata).find("Widget"), std::string::npos);
  EXPECT_EQ(Text(*view.ListRaw({}, kMetadata, "")), "foo/x@101");
  // With a watch of its own, that one answers.
  Demanded metadata = DemandMetadata(view, "foo");
  EXPECT_EQ(Bytes(view, kMetadata).find("Widget"), std::string::npos);
  EXPECT_NE(Bytes(view, kWidget).find("Widget"), std::string::npos);
  EXPECT_EQ(server_.live_watches(), 2u);
}

TEST_F(MetadataDemandTest, NeedsTheSamePermissions) {
  server_.Put("foo/x");
  CacheView& view = Add(a_);
  Demanded demanded = DemandMetadata(view);
  EXPECT_EQ(demanded.state(), DemandState::kForbidden);
  constexpr rbac::Mandate kNothing = {"nothing", {}};
  FakeRestClient other{loop_, "nothing"};
  CacheView& undeclared = Add(other, kNothing);
  Demanded rejected = DemandMetadata(undeclared, "foo");
  EXPECT_EQ(AsStd(rejected.handle->status().reason.message()),
            "the mandate of nothing does not allow reading metadata of widgets.example.com in "
            "namespace foo: nothing was sent; add to its source "
            "// +kubebuilder:rbac:groups=example.com,resources=widgets,verbs=list;watch,"
            "namespace=foo");
  EXPECT_EQ(other.requests().size(), 0u);
}

TEST_F(MetadataDemandTest, AServerMaySelectByLabels) {
  server_.Put("foo/x", {{"app", "web"}});
  server_.Put("foo/y");
  CacheView& view = AddGranted(a_);
  Demanded demanded = DemandMetadata(view, "foo", "app=web");
  EXPECT_EQ(demanded.Take(), "!+foo/x@101 Synced");
  EXPECT_EQ(Text(*view.ListRawSelected({}, kMetadata, "foo", *LabelSelector::Parse("app=web"))),
            "foo/x@101");
}

TEST_F(MetadataDemandTest, SelectedWholeObjectsAnswerForTheirMetadata) {
  server_.Put("foo/x", {{"app", "web"}});
  CacheView& view = AddGranted(a_);
  Demanded whole = DemandSelected(view, "foo", "app=web");
  Settle();
  EXPECT_NE(Bytes(view, kMetadata).find("Widget"), std::string::npos);
  EXPECT_EQ(Text(*view.ListRawSelected({}, kMetadata, "foo", *LabelSelector::Parse("app=web"))),
            "foo/x@101");
}

}  // namespace
}  // namespace mandate
