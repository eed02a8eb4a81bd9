#include "manager/cache/cache_view.h"

#include <gtest/gtest.h>

#include "manager/cache/testing/fake_cache_view.h"
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

}  // namespace
}  // namespace mandate
