#include "manager/rbac/mandate_without.h"

#include <gtest/gtest.h>

namespace mandate::rbac {
namespace {

constexpr std::string_view kVerbs[] = {"get", "create"};
constexpr std::string_view kGroups[] = {"", "apps"};
constexpr std::string_view kResources[] = {"pods", "pods/log"};
constexpr std::string_view kNames[] = {"a"};
constexpr std::string_view kGet[] = {"get"};
constexpr std::string_view kUrls[] = {"/metrics"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kGrantedByOthers[] = {"pods", "nodes"};
constexpr MandateRule kRules[] = {
    {{kVerbs, kGroups, kResources, kNames, {}}, "foo", false},
    {{kGet, {}, {}, {}, kUrls}, "", false},
    {{kVerbs, kCore, kGrantedByOthers, {}, {}}, "", true},
};
constexpr Mandate kMandate = {"c", kRules};

Attributes Ask(std::string_view verb, std::string_view group, std::string_view resource,
               std::string_view subresource = "", std::string_view name = "a") {
  Attributes ask;
  ask.verb = verb;
  ask.api_group = group;
  ask.resource = resource;
  ask.subresource = subresource;
  ask.ns = "foo";
  ask.name = name;
  return ask;
}

TEST(MandateWithoutTest, TakesOneAwayAndNoMore) {
  const auto covered = [](std::string_view without, const Attributes& ask) {
    return PermitsRequest(MandateWithout(kMandate, without).get(), ask);
  };
  for (std::string_view without : {"", "c get secrets.", "d get pods.apps", "c get pods"}) {
    for (const std::string_view verb : kVerbs) {
      for (const std::string_view group : kGroups) {
        for (const std::string_view subresource : {"", "log"}) {
          EXPECT_TRUE(covered(without, Ask(verb, group, "pods", subresource)))
              << verb << " " << group << " " << subresource;
        }
      }
    }
  }
  EXPECT_FALSE(covered("c get pods.apps", Ask("get", "apps", "pods")));
  EXPECT_TRUE(covered("c get pods.apps", Ask("create", "apps", "pods")));
  EXPECT_TRUE(covered("c get pods.apps", Ask("get", "apps", "pods", "log")));
  EXPECT_FALSE(covered("c get pods.apps", Ask("get", "apps", "pods", "log", "b"))) << "names stay";
  EXPECT_TRUE(covered("c get pods.", Ask("get", "", "pods"))) << "what others grant stays";
  Attributes metrics;
  metrics.is_resource_request = false;
  metrics.verb = "get";
  metrics.path = "/metrics";
  EXPECT_TRUE(covered("c get pods.", metrics));
  EXPECT_FALSE(covered("c get /metrics", metrics));
}

}  // namespace
}  // namespace mandate::rbac
