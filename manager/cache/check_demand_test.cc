#include "manager/cache/check_demand.h"

#include <gtest/gtest.h>

#include <array>

namespace mandate {
namespace {

using Words = std::array<std::string_view, 1>;

constexpr KindInfo kPod = {.group = "", .version = "v1", .kind = "Pod", .plural = "pods"};
constexpr std::array<std::string_view, 2> kRead = {"list", "watch"};
constexpr Words kList = {"list"};
constexpr Words kCore = {""};
constexpr Words kPods = {"pods"};
constexpr Words kMe = {"me"};

constexpr std::array<rbac::MandateRule, 1> Rules(std::span<const std::string_view> verbs,
                                                 std::span<const std::string_view> names,
                                                 std::string_view ns) {
  return {{{{verbs, kCore, kPods, names, {}}, ns, false}}};
}

TEST(CheckDemandTest, AsksForListAndWatchOfExactlyTheScope) {
  static constexpr auto kAll = Rules(kRead, {}, "");
  static constexpr auto kListOnly = Rules(kList, {}, "");
  static constexpr auto kInFoo = Rules(kRead, {}, "foo");
  static constexpr auto kOne = Rules(kRead, kMe, "foo");
  static constexpr auto kOneAnywhere = Rules(kRead, kMe, "");
  static constexpr auto kListInFoo = Rules(kList, {}, "foo");
  static constexpr std::array<rbac::MandateRule, 4> kFour = {
      Rules(kRead, {}, "a")[0], Rules(kRead, {}, "b")[0], Rules(kRead, {}, "c")[0],
      Rules(kRead, {}, "d")[0]};
  struct Row {
    const char* name;
    std::span<const rbac::MandateRule> rules;
    DemandSpec spec;
    const char* missing;  // the marker; null: allowed
  };
  const Row rows[] = {
      {"cluster role, cluster", kAll, {kPod, "", ""}, nullptr},
      {"cluster role, namespace", kAll, {kPod, "foo", ""}, nullptr},
      {"cluster role, object", kAll, {kPod, "foo", "me"}, nullptr},
      {"role, its namespace", kInFoo, {kPod, "foo", ""}, nullptr},
      {"role, another namespace",
       kInFoo,
       {kPod, "bar", ""},
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=list;watch,namespace=bar"},
      {"role, cluster",
       kInFoo,
       {kPod, "", ""},
       "narrow the demand to the mandate's rules: pods in namespace foo"},
      {"names, cluster",
       kOne,
       {kPod, "", ""},
       "narrow the demand to the mandate's rules: pods \"me\" in namespace foo"},
      {"names in every namespace, a namespace",
       kOneAnywhere,
       {kPod, "foo", ""},
       "narrow the demand to the mandate's rules: pods \"me\" in namespace foo"},
      {"a name in a namespace, the name everywhere",
       kOne,
       {kPod, "", "me"},
       "narrow the demand to the mandate's rules: pods \"me\" in namespace foo"},
      {"several roles, cluster",
       kFour,
       {kPod, "", ""},
       "narrow the demand to the mandate's rules: pods in namespace a, pods in namespace b, "
       "pods in namespace c, …"},
      {"a role for list alone, cluster",
       kListInFoo,
       {kPod, "", ""},
       "narrow the demand to pods in namespace foo, and add to its source "
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=watch,namespace=foo"},
      {"names, that object", kOne, {kPod, "foo", "me"}, nullptr},
      {"names, another object",
       kOne,
       {kPod, "foo", "you"},
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=list;watch,namespace=foo,"
       "resourceNames=you"},
      {"names, all objects",
       kOne,
       {kPod, "foo", ""},
       "narrow the demand to the mandate's rules: pods \"me\" in namespace foo"},
      {"no watch",
       kListOnly,
       {kPod, "", ""},
       "// +kubebuilder:rbac:groups=core,resources=pods,verbs=watch"},
      {"nothing",
       {},
       {{.group = "apps", .version = "v1", .kind = "Deployment", .plural = "deployments"}, "", ""},
       "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=list;watch"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const rbac::Mandate mandate = {"reader", row.rules};
    const absl::Status status = CheckDemand(mandate, row.spec);
    if (row.missing == nullptr) {
      EXPECT_TRUE(status.ok()) << status;
      continue;
    }
    EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
    const std::string text(status.message());
    EXPECT_TRUE(text.ends_with(row.missing)) << text;
    EXPECT_NE(text.find("reader"), text.npos) << text;
  }
}

// A tenant may have written them.
TEST(CheckDemandTest, ANameThatCannotBeOneIsDenied) {
  const struct {
    DemandSpec spec;
    const char* message;
  } kCases[] = {
      {{kPod, DemandSpec::kEmpty, ""}, "the demand of pods has an empty namespace"},
      {{kPod, "foo", DemandSpec::kEmpty}, "the demand of pods has an empty name"},
      {{kPod, "a/pods", ""}, "the demand of pods has an invalid namespace"},
      {{kPod, "..", ""}, "the demand of pods has an invalid namespace"},
      {{kPod, "foo\nbar", ""}, "the demand of pods has an invalid namespace"},
      {{kPod, "Foo", "me"}, "the demand of pods has an invalid namespace"},
      {{kPod, "foo", "%2e"}, "the demand of pods has an invalid name"},
      {{kPod, "foo", "a,metadata.namespace=b"}, "has an invalid name: it has a character of"},
  };
  static constexpr auto kAll = Rules(kRead, {}, "");
  const rbac::Mandate mandate = {"reader", kAll};
  for (const auto& c : kCases) {
    const absl::Status status = CheckDemand(mandate, c.spec);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(std::string(status.message()).find(c.message), std::string::npos) << status;
  }
  EXPECT_TRUE(CheckDemand(mandate, {kPod, "foo", "system:me"}).ok());
}

}  // namespace
}  // namespace mandate
