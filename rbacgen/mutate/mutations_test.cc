#include "rbacgen/mutate/mutations.h"

#include <gtest/gtest.h>

#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

rbac::Rule ResourceRule(std::vector<std::string> verbs, std::vector<std::string> groups,
                        std::vector<std::string> resources) {
  rbac::Rule rule;
  rule.verbs = std::move(verbs);
  rule.api_groups = std::move(groups);
  rule.resources = std::move(resources);
  return rule;
}

std::vector<ComponentMandate> Mandates() {
  ComponentMandate a;
  a.name = "a";
  Grant own, external;
  own.rules = {ResourceRule({"get", "create"}, {"apps"}, {"deployments", "deployments/scale"}),
               ResourceRule({"create"}, {"apps"}, {"deployments"}),
               ResourceRule({"create", "patch"}, {"", "events.k8s.io"}, {"events"}),
               ResourceRule({"delete", "update"}, {""}, {"events"}),
               ResourceRule({"create"}, {"calendar.example.com"}, {"events"})};
  rbac::Rule url;
  url.verbs = {"get"};
  url.non_resource_urls = {"/metrics"};
  own.rules.push_back(url);
  external.external = true;
  external.rules = {ResourceRule({"delete"}, {""}, {"pods"})};
  a.grants = {own, external};
  return {a};
}

std::string Text(const std::vector<rbac::Permission>& permissions) {
  std::string text;
  for (const auto& p : permissions)
    StrAppend(&text, p.ToString(), IsWrite(p) ? " (write)" : "", "\n");
  return text;
}

TEST(MutationsTest, OwnPermissionsAreThoseOfTheMarkers) {
  EXPECT_EQ(Text(OwnPermissions(Mandates())),
            "a create events. (write)\n"
            "a create deployments.apps (write)\na create deployments/scale.apps (write)\n"
            "a create events.calendar.example.com (write)\n"
            "a delete events. (write)\na get /metrics\na get deployments.apps\n"
            "a get deployments/scale.apps\na patch events. (write)\na update events. (write)\n");
}

TEST(MutationsTest, AFailingTestProvesAPermission) {
  std::vector<std::string> runs;
  const auto mutations =
      Mutate(OwnPermissions(Mandates()), [&](std::string_view without) -> absl::StatusOr<bool> {
        runs.emplace_back(without);
        return without != "a create deployments.apps";
      });
  ASSERT_TRUE(mutations.ok());
  ASSERT_EQ(mutations->size(), 10u);
  EXPECT_EQ(runs.size(), 11u);
  EXPECT_EQ(runs[0], "") << "the control";
  for (const Mutation& m : *mutations) {
    EXPECT_EQ(m.proven, m.without.ToString() == "a create deployments.apps");
  }
}

TEST(MutationsTest, TestsThatAlwaysFailAreAnError) {
  int runs = 0;
  const auto failing =
      Mutate(OwnPermissions(Mandates()), [&](std::string_view) -> absl::StatusOr<bool> {
        ++runs;
        return false;
      });
  EXPECT_EQ(failing.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(runs, 1);
  const auto error =
      Mutate(OwnPermissions(Mandates()), [&](std::string_view without) -> absl::StatusOr<bool> {
        if (without.empty()) return true;
        return absl::DeadlineExceededError("it hangs");
      });
  EXPECT_EQ(error.status().code(), absl::StatusCode::kDeadlineExceeded);
}

}  // namespace
}  // namespace mandate::rbacgen
