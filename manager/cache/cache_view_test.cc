#include "manager/cache/cache_view.h"

#include <gtest/gtest.h>

namespace mandate {
namespace {

constexpr KindInfo kBinding = {.group = "rbac.authorization.k8s.io",
                               .version = "v1",
                               .kind = "RoleBinding",
                               .plural = "rolebindings"};
constexpr KindInfo kPod = {.group = "", .version = "v1", .kind = "Pod", .plural = "pods"};

TEST(DemandSpecTest, NamesItsScope) {
  EXPECT_EQ((DemandSpec{kBinding, "", ""}.ToString()), "rolebindings.rbac.authorization.k8s.io");
  EXPECT_EQ((DemandSpec{kBinding, "foo", ""}.ToString()),
            "rolebindings.rbac.authorization.k8s.io in namespace foo");
  EXPECT_EQ((DemandSpec{kPod, "foo", "bar"}.ToString()), "pods \"bar\" in namespace foo");
  EXPECT_EQ((DemandSpec{kPod, "", "bar"}.ToString()), "pods \"bar\"");
}

TEST(DemandStateTest, HasANameForEach) {
  EXPECT_EQ(ToString(DemandState::kPending), "Pending");
  EXPECT_EQ(ToString(DemandState::kSynced), "Synced");
  EXPECT_EQ(ToString(DemandState::kForbidden), "Forbidden");
  EXPECT_EQ(ToString(DemandState::kKindAbsent), "KindAbsent");
  EXPECT_EQ(ToString(DemandState::kStale), "Stale");
}

}  // namespace
}  // namespace mandate
