#include "manager/cache/testing/fake_cache_view.h"

#include <gtest/gtest.h>

#include "manager/cache/testing/recording_sink.h"
#include "manager/cache/testing/watch_json.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

using RoleBinding = ::k8s::io::api::rbac::v1::RoleBinding;

class FakeCacheViewTest : public ::testing::Test {
 protected:
  SimulatedLoop loop_;
  FakeCacheView view_{loop_};
  std::shared_ptr<RecordingSink> sink_ = std::make_shared<RecordingSink>();
};

TEST_F(FakeCacheViewTest, DeliversObjectsAndChanges) {
  view_.Put(kWidget, Widget("a/x", 1));
  auto demand = view_.Demand({kWidget, "a", ""}, sink_);
  EXPECT_EQ(demand->status().state, DemandState::kPending);
  EXPECT_EQ(view_.demands(), (std::vector<DemandSpec>{{kWidget, "a", ""}}));
  // Before the demand has started: the sink gets it once.
  view_.Put(kWidget, Widget("a/y", 2));
  loop_.RunReady();
  EXPECT_EQ(sink_->Take(), "!+a/x@1 !+a/y@2 Synced");
  EXPECT_EQ(demand->status().state, DemandState::kSynced);
  view_.Put(kWidget, Widget("b/z", 3));
  view_.Put(kWidget, Widget("a/x", 4));
  view_.Remove(kWidget, {"a", "y"});
  EXPECT_EQ(sink_->Take(), "~a/x@4 -a/y@2");
  demand.reset();
  view_.Put(kWidget, Widget("a/x", 5));
  loop_.RunReady();
  EXPECT_EQ(sink_->Take(), "");
  EXPECT_TRUE(sink_->violations().empty());
}

TEST_F(FakeCacheViewTest, DeliversChangesOnlyWhileSynced) {
  auto demand = view_.Demand({kWidget, "", ""}, sink_);
  view_.SetState(kWidget, DemandState::kKindAbsent, absl::UnavailableError("no CRD"));
  view_.Put(kWidget, Widget("a/x", 1));
  loop_.RunReady();
  EXPECT_EQ(sink_->Take(), "KindAbsent");
  EXPECT_EQ(view_.GetRaw({}, kWidget, {"a", "x"}).status().code(), absl::StatusCode::kUnavailable);
  view_.SetState(kWidget, DemandState::kSynced);
  EXPECT_EQ(sink_->Take(), "!+a/x@1 Synced");
  view_.SetState(DemandSpec{kWidget, "", ""}, DemandState::kForbidden,
                 absl::PermissionDeniedError("revoked"));
  view_.Remove(kWidget, {"a", "x"});
  EXPECT_EQ(sink_->Take(), "purged:1 Forbidden");
  EXPECT_EQ(view_.ListRaw({}, kWidget, "").status().code(), absl::StatusCode::kPermissionDenied);
  view_.SetState(DemandSpec{kWidget, "", ""}, DemandState::kSynced);
  EXPECT_EQ(sink_->Take(), "Synced");
}

TEST_F(FakeCacheViewTest, ReadsNeedADemandThatCovers) {
  view_.Put(kWidget, Widget("a/x", 1));
  EXPECT_EQ(view_.GetRaw({}, kWidget, {"a", "x"}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  auto demand = view_.Demand({kWidget, "a", ""}, nullptr);
  EXPECT_EQ(view_.GetRaw({}, kWidget, {"a", "x"}).status().code(), absl::StatusCode::kUnavailable);
  loop_.RunReady();
  EXPECT_TRUE(view_.GetRaw({}, kWidget, {"a", "x"}).ok());
  EXPECT_EQ(view_.GetRaw({}, kWidget, {"a", "y"}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(view_.ListRaw({}, kWidget, "").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(view_.ListRaw({}, kWidget, "a")->size(), 1u);
}

TEST_F(FakeCacheViewTest, TypedObjectsGetVersionAndUid) {
  const auto demand = view_.Demand({KindOf<RoleBinding>::value, "", ""}, nullptr);
  loop_.RunReady();
  RoleBinding binding;
  binding.mutable_metadata()->set_name("x");
  binding.mutable_metadata()->set_namespace_("a");
  const RoleBinding stored = view_.Put(binding);
  EXPECT_FALSE(stored.metadata().uid().empty());
  auto read = view_.Get<RoleBinding>({}, {"a", "x"});
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->metadata().resourceversion(), stored.metadata().resourceversion());
  EXPECT_EQ(read->metadata().uid(), stored.metadata().uid());
}

TEST_F(FakeCacheViewTest, AChangedObjectKeepsItsUid) {
  RoleBinding binding;
  binding.mutable_metadata()->set_name("x");
  const RoleBinding first = view_.Put(binding);
  const RoleBinding changed = view_.Put(binding);
  EXPECT_EQ(changed.metadata().uid(), first.metadata().uid());
  EXPECT_NE(changed.metadata().resourceversion(), first.metadata().resourceversion());
  view_.Remove(KindOf<RoleBinding>::value, {"", "x"});
  EXPECT_NE(view_.Put(binding).metadata().uid(), first.metadata().uid());
}

TEST_F(FakeCacheViewTest, IndexesAnswerAsInTheCache) {
  using Values = std::vector<std::string>;
  const auto first = [](const RawObject& object) -> absl::StatusOr<Values> {
    if (object.name() == "bad") return absl::InvalidArgumentError("scripted");
    return Values{std::string(object.name().substr(0, 1))};
  };
  ASSERT_TRUE(view_.IndexField(kWidget, "letter", first).ok());
  EXPECT_EQ(view_.IndexField(kWidget, "letter", first).code(), absl::StatusCode::kAlreadyExists);
  for (const char* key : {"a/ax", "a/cx", "a/bad", "b/ay"}) view_.Put(kWidget, Widget(key, 1));
  EXPECT_EQ(view_.ListRawByIndex({}, kWidget, {"letter", "a"}).status().code(),
            absl::StatusCode::kFailedPrecondition);
  auto demand = view_.Demand({kWidget, "", ""}, nullptr);
  EXPECT_EQ(view_.IndexField(kWidget, "late", first).code(), absl::StatusCode::kFailedPrecondition);
  loop_.RunReady();
  EXPECT_EQ(Text(*view_.ListRawByIndex({}, kWidget, {"letter", "a"})), "a/ax@1 a/bad@1 b/ay@1");
  EXPECT_EQ(Text(*view_.ListRawByIndex({}, kWidget, {"letter", "a", "b"})), "b/ay@1");
  EXPECT_EQ(Text(view_.ListLastKnownByIndex(kWidget, {"letter", "c"})), "a/bad@1 a/cx@1");
  EXPECT_EQ(view_.ListRawByIndex({}, kWidget, {"none", "a"}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(view_.ListLastKnownByIndex(kWidget, {"none", "a"}).size(), 4u);
}

}  // namespace
}  // namespace mandate
