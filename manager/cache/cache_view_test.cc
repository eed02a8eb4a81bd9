#include "manager/cache/cache_view.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/cache/testing/fake_cache_view.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {
namespace {

constexpr KindInfo kBinding = KindOf<rbacv1::RoleBinding>::value;
constexpr KindInfo kPod = {.group = "", .version = "v1", .kind = "Pod", .plural = "pods"};

TEST(DemandSpecTest, NamesItsScope) {
  EXPECT_EQ((DemandSpec{kBinding, "", ""}.ToString()), "rolebindings.rbac.authorization.k8s.io");
  EXPECT_EQ((DemandSpec{kBinding, "foo", ""}.ToString()),
            "rolebindings.rbac.authorization.k8s.io in namespace foo");
  EXPECT_EQ((DemandSpec{kPod, "foo", "bar"}.ToString()), "pods \"bar\" in namespace foo");
  EXPECT_EQ((DemandSpec{kPod, "", "bar"}.ToString()), "pods \"bar\"");
}

// The object does not hide the others, and an error names it if a read wants it.
TEST(CacheViewTest, ATypedReadNamesAnObjectThatItsTypeCannotHold) {
  SimulatedLoop loop;
  FakeCacheView fake(loop);
  const CacheView& view = fake;
  const KindInfo kind = KindOf<rbacv1::Role>::value;
  const auto raw =
      ParseRawObject(R"({"metadata":{"name":"x","namespace":"a"},"rules":7})", Encoding::kJson);
  ASSERT_TRUE(raw.ok()) << raw.status();
  const auto demand = fake.Demand({kind, "", ""}, nullptr);
  loop.RunReady();
  fake.Put(kind, *raw);
  EXPECT_TRUE(view.GetRaw({}, kind, {"a", "x"}).ok());
  EXPECT_TRUE(view.List<rbacv1::Role>({}, "b").ok());
  constexpr char kError[] =
      "roles.rbac.authorization.k8s.io \"x\" in namespace a: rules: expected an array, got a "
      "number";
  EXPECT_EQ(view.Get<rbacv1::Role>({}, {"a", "x"}).status(), absl::InvalidArgumentError(kError));
  EXPECT_EQ(view.List<rbacv1::Role>({}).status(), absl::InvalidArgumentError(kError));
}

// A view with a limit of its own.
class LimitedView : public FakeCacheView {
 public:
  using FakeCacheView::FakeCacheView;
  absl::Status CheckListSize(const KindInfo& kind, size_t objects, size_t bytes) const override {
    if (bytes <= limit) return absl::OkStatus();
    return absl::ResourceExhaustedError(StrCat(objects, " ", kind.plural, ": ", bytes));
  }

  size_t limit = 0;
};

TEST(CacheViewTest, ATypedListDecodesNoMoreThanItMay) {
  SimulatedLoop loop;
  LimitedView view(loop);
  const KindInfo kind = KindOf<rbacv1::Role>::value;
  ASSERT_TRUE(view.IndexField<rbacv1::Role>(
                      "all", [](const rbacv1::Role&) { return std::vector<std::string>{"x"}; })
                  .ok());
  const auto demand = view.Demand({kind, "", ""}, nullptr);
  loop.RunReady();
  size_t bytes = 0;
  for (const char* name : {"x", "y", "z"}) {
    rbacv1::Role role;
    role.mutable_metadata()->set_namespace_("a");
    role.mutable_metadata()->set_name(name);
    view.Put(role);
    bytes += (*view.GetRaw({}, kind, {"a", name}))->size();
  }
  view.limit = bytes;
  EXPECT_EQ(view.List<rbacv1::Role>({})->size(), 3u);
  view.limit = bytes - 1;
  const absl::Status refused = absl::ResourceExhaustedError(StrCat("3 roles: ", bytes));
  EXPECT_EQ(view.List<rbacv1::Role>({}).status(), refused);
  EXPECT_EQ(view.List<rbacv1::Role>({}, "a", LabelSelector()).status(), refused);
  EXPECT_EQ(view.ListByIndex<rbacv1::Role>({}, {"all", "x"}).status(), refused);
  EXPECT_TRUE(view.Get<rbacv1::Role>({}, {"a", "x"}).ok());
  EXPECT_EQ(view.ListRaw({}, kind, "")->size(), 3u) << "nothing is decoded";
}

// Two bytes of an empty message take much more in memory.
TEST(CacheViewTest, ATypedListTakesNoMoreMemoryThanItMay) {
  SimulatedLoop loop;
  LimitedView view(loop);
  const auto demand = view.Demand({KindOf<rbacv1::Role>::value, "", ""}, nullptr);
  loop.RunReady();
  rbacv1::Role role;
  role.mutable_metadata()->set_namespace_("a");
  for (int i = 0; i < 300'000; ++i) role.add_rules();
  for (const char* name : {"x", "y", "z"}) {
    role.mutable_metadata()->set_name(name);
    view.Put(role);
  }
  const size_t memory = role.SpaceUsedLong();
  view.limit = memory / 4;
  EXPECT_GT(view.limit, 3 * role.ByteSizeLong()) << "else this tests nothing";
  EXPECT_TRUE(absl::IsResourceExhausted(view.List<rbacv1::Role>({}).status()));
  view.limit = 4 * memory;
  EXPECT_EQ(view.List<rbacv1::Role>({})->size(), 3u);
}

}  // namespace
}  // namespace mandate
