#include "manager/cache/namespaced_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"
#include "manager/cache/testing/fake_cache_view.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(CheckWatchedNamespacesTest, AcceptsDistinctNames) {
  EXPECT_EQ(CheckWatchedNamespaces({}), absl::OkStatus());
  EXPECT_EQ(CheckWatchedNamespaces({"shop", "bank"}), absl::OkStatus());
  const struct {
    std::vector<std::string> namespaces;
    const char* says;
  } rows[] = {
      {{"shop", "bank", "shop"}, "namespace shop is listed twice"},
      {{"shop", ""}, "\"\" cannot be a namespace: "},
      {{"Shop"}, "\"Shop\" cannot be a namespace: "},
      {{"shop/a"}, "\"shop/a\" cannot be a namespace: "},
  };
  for (const auto& row : rows) {
    const absl::Status status = CheckWatchedNamespaces(row.namespaces);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << row.says;
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.says));
  }
}

// A component whose mandate is for every widget, restricted to foo and bar.
class NamespacedViewTest : public CacheFixture {
 protected:
  void SetUp() override {
    for (const char* key : {"foo/b", "foo/a", "bar/x", "baz/z"}) server_.Put(key);
    whole_ = &Add(a_);
    view_ = std::make_unique<NamespacedView>(*whole_, std::vector<std::string>{"foo", "bar"});
  }
  void GrantBoth() {
    server_.Grant("a", "foo");
    server_.Grant("a", "bar");
  }
  // A demand whose sink may be purged in part.
  void DemandAll() {
    handle_ = view_->Demand({kWidget, "", ""}, sink_);
    Settle();
  }
  static std::string Keys(const absl::StatusOr<std::vector<ObjectPtr>>& objects) {
    if (!objects.ok()) return std::string(absl::StatusCodeToString(objects.status().code()));
    std::string keys;
    for (const ObjectPtr& object : *objects) {
      StrAppend(&keys, keys.empty() ? "" : " ", object->Key().ToString());
    }
    return keys;
  }
  absl::Status Get(const std::string& ns, const std::string& name) {
    return view_->GetRaw({}, kWidget, {ns, name}).status();
  }
  static std::vector<std::string> Texts(const std::vector<DemandSpec>& specs) {
    std::vector<std::string> texts;
    for (const DemandSpec& spec : specs) texts.push_back(spec.ToString());
    return texts;
  }

  CacheView* whole_ = nullptr;
  std::unique_ptr<NamespacedView> view_;
  std::shared_ptr<RecordingSink> sink_ = std::make_shared<RecordingSink>();
  std::unique_ptr<DemandHandle> handle_;
};

TEST_F(NamespacedViewTest, SplitsWhatNamesNoNamespace) {
  const std::string all = DemandSpec{kWidget, "", ""}.ToString();
  EXPECT_THAT(Texts(view_->Split({kWidget, "", ""})),
              ElementsAre(all + " in namespace bar", all + " in namespace foo"));
  EXPECT_THAT(Texts(view_->Split({kWidget, "", "", "app=web"})),
              ElementsAre(all + " in namespace bar with labels app=web",
                          all + " in namespace foo with labels app=web"));
  KindInfo cluster = kWidget;
  cluster.scope = Scope::kCluster;
  for (const DemandSpec& spec : {DemandSpec{kWidget, "baz", ""}, DemandSpec{kWidget, "foo", "a"},
                                 DemandSpec{kWidget, std::string(DemandSpec::kEmpty), ""},
                                 DemandSpec{cluster, "", ""}, DemandSpec{cluster, "", "a"}}) {
    EXPECT_THAT(view_->Split(spec), ElementsAre(spec));
  }
  EXPECT_THAT(whole_->Split({kWidget, "", ""}), ElementsAre(DemandSpec{kWidget, "", ""}));
}

TEST_F(NamespacedViewTest, EventsOfOtherNamespacesNeverArrive) {
  GrantBoth();
  Demanded demanded = DemandAndSettle(*view_);
  EXPECT_EQ(demanded.Take(), "!+bar/x@103 !+foo/a@102 !+foo/b@101 Synced");
  EXPECT_EQ(demanded.state(), DemandState::kSynced);
  EXPECT_EQ(server_.live_watches(), 2u);
  for (const std::string& request : a_.requests()) {
    EXPECT_THAT(request, HasSubstr("/namespaces/")) << "nothing asks for the whole cluster";
  }
  PutAndSettle("baz/new");
  EXPECT_EQ(demanded.Take(), "");
  PutAndSettle("foo/new");
  EXPECT_EQ(demanded.Take(), "+foo/new@106");
  Leave(demanded);
  EXPECT_EQ(server_.live_watches(), 0u);
}

TEST_F(NamespacedViewTest, ReadsAreThoseOfTheNamespaces) {
  GrantBoth();
  ASSERT_EQ(view_->IndexField(kWidget, "name",
                              [](const RawObject& object) {
                                return std::vector<std::string>{std::string(object.name())};
                              }),
            absl::OkStatus());
  Demanded demanded = DemandAndSettle(*view_);
  EXPECT_EQ(Keys(view_->ListRaw({}, kWidget, "")), "bar/x foo/a foo/b");
  EXPECT_EQ(Keys(view_->ListRaw({}, kWidget, "foo")), "foo/a foo/b");
  EXPECT_EQ(Keys(view_->ListRawSelected({}, kWidget, "", LabelSelector())), "bar/x foo/a foo/b");
  EXPECT_EQ(Keys(view_->ListLastKnown(kWidget, "")), "bar/x foo/a foo/b");
  EXPECT_EQ(Keys(view_->ListRawByIndex({}, kWidget, {"name", "a"})), "foo/a");
  EXPECT_EQ(Keys(view_->ListLastKnownByIndex(kWidget, {"name", "x"})), "bar/x");
  EXPECT_NE(view_->GetLastKnown(kWidget, {"foo", "a"}), nullptr);
  EXPECT_EQ(Get("foo", "a"), absl::OkStatus());
  EXPECT_EQ(Get("foo", "none").code(), absl::StatusCode::kNotFound);
}

TEST_F(NamespacedViewTest, AnotherNamespaceIsUnknownAndNotAbsent) {
  GrantBoth();
  Demanded demanded = DemandAndSettle(*view_);
  for (const absl::Status& status :
       {Get("baz", "z"), view_->ListRaw({}, kWidget, "baz").status()}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
    EXPECT_THAT(std::string(status.message()),
                HasSubstr("; the manager watches only the namespaces bar, foo "
                          "(--watch-namespaces)"));
  }
  server_.Grant("a", "baz");
  Demanded named = DemandAndSettle(*view_, "baz");
  EXPECT_EQ(Get("baz", "z"), absl::OkStatus()) << "a demand names it";
  EXPECT_EQ(Keys(view_->ListRaw({}, kWidget, "")), "bar/x foo/a foo/b");
}

TEST_F(NamespacedViewTest, AForbiddenNamespaceIsReportedAndTheOthersGoOn) {
  server_.Grant("a", "foo");
  DemandAll();
  EXPECT_EQ(sink_->Take(), "Forbidden !+foo/a@102 !+foo/b@101");
  EXPECT_EQ(handle_->status().state, DemandState::kForbidden);
  EXPECT_THAT(std::string(handle_->status().reason.message()), HasSubstr("in namespace bar"));
  EXPECT_EQ(Keys(view_->ListRaw({}, kWidget, "")), "PERMISSION_DENIED") << "not a part of it";
  EXPECT_EQ(Keys(view_->ListRaw({}, kWidget, "foo")), "foo/a foo/b");
  EXPECT_EQ(Get("foo", "a"), absl::OkStatus());
  EXPECT_EQ(Get("bar", "x").code(), absl::StatusCode::kPermissionDenied);
  server_.Grant("a", "bar");
  RetryAndSettle();
  EXPECT_EQ(sink_->Take(), "Pending !+bar/x@103 Synced");
  EXPECT_EQ(handle_->status().state, DemandState::kSynced);
}

TEST_F(NamespacedViewTest, APauseHoldsAllNamespaces) {
  GrantBoth();
  DemandAll();
  sink_->Take();
  handle_->Pause();
  Settle();
  server_.Put("foo/new");
  PutAndSettle("bar/new");
  EXPECT_EQ(sink_->Take(), "");
  handle_->Resume();
  Settle();
  const std::string resumed = sink_->Take();
  EXPECT_THAT(resumed, HasSubstr("+foo/new"));
  EXPECT_THAT(resumed, HasSubstr("+bar/new"));
}

TEST_F(NamespacedViewTest, ADemandWithoutASinkHasAState) {
  GrantBoth();
  handle_ = view_->Demand({kWidget, "", ""}, nullptr);
  EXPECT_EQ(handle_->status().state, DemandState::kPending);
  Settle();
  EXPECT_EQ(handle_->status().state, DemandState::kSynced);
  EXPECT_EQ(Keys(view_->ListRaw({}, kWidget, "")), "bar/x foo/a foo/b");
}

TEST_F(NamespacedViewTest, EachPartHasTheFlowsOfTheDemand) {
  FakeCacheView whole(loop_);
  NamespacedView view(whole, {"foo", "bar"});
  sink_->SetFlows({"tenant"});
  handle_ = view.Demand({kWidget, "", ""}, sink_);
  EXPECT_THAT(whole.FlowsOf({kWidget, "foo", ""}), ElementsAre("tenant"));
  EXPECT_THAT(whole.FlowsOf({kWidget, "bar", ""}), ElementsAre("tenant"));
  handle_->AddFlow("other");
  EXPECT_THAT(whole.added_flows(), ElementsAre("other", "other"));
  handle_.reset();
}

TEST_F(NamespacedViewTest, TheMandateDecides) {
  static constexpr std::array<rbac::MandateRule, 1> kFoo = {
      {{{kReadVerbs, kWidgetGroups, kWidgetPlurals, {}, {}}, "foo", false}}};
  static constexpr rbac::Mandate kOnlyFoo = {"b", kFoo};
  server_.Grant("b");
  NamespacedView view(Add(b_, kOnlyFoo), {"foo", "bar"});
  handle_ = view.Demand({kWidget, "", ""}, sink_);
  Settle();
  EXPECT_EQ(handle_->status().state, DemandState::kForbidden);
  EXPECT_THAT(std::string(handle_->status().reason.message()),
              HasSubstr("the mandate of b does not allow reading"));
  EXPECT_EQ(Keys(view.ListRaw({}, kWidget, "foo")), "foo/a foo/b");
  EXPECT_EQ(server_.live_watches(), 1u);
}

}  // namespace
}  // namespace mandate
