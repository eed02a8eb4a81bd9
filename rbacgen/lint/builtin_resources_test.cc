#include "rbacgen/lint/builtin_resources.h"

#include <set>
#include <string>
#include <utility>

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

// builtin_cluster_test compares the verbs of each with a server.
TEST(BuiltinResources, HaveVerbsAndAreUnique) {
  std::set<std::pair<std::string_view, std::string_view>> found;
  for (const BuiltinResource& r : BuiltinResources()) {
    EXPECT_TRUE(found.emplace(r.group, r.resource).second) << r.group << " " << r.resource;
    EXPECT_NE(r.verbs, "") << r.group << " " << r.resource;
  }
  EXPECT_GE(found.size(), 140u);
}

TEST(BuiltinShortNames, MayBeSeveralOfOneResource) {
  std::set<std::string_view> found;
  for (const BuiltinShortName& s : BuiltinShortNames()) {
    if (s.resource == "customresourcedefinitions" || s.resource == "pods") {
      found.insert(s.short_name);
    }
  }
  EXPECT_EQ(found, (std::set<std::string_view>{"crd", "crds", "po"}));
}

TEST(FindBuiltin, FindsResourcesAndSubresources) {
  const struct {
    std::string_view group, resource;
    std::string_view want;  // "none", or its scope and verbs
  } kCases[] = {
      {"", "pods", "namespaced create delete deletecollection get list patch update watch"},
      {"", "pods/log", "namespaced get"},
      {"", "componentstatuses", "cluster get list"},
      {"", "namespaces/finalize", "cluster update"},
      {"apps", "deployments/scale", "namespaced get patch update"},
      // Served only in an alpha version.
      {"internal.apiserver.k8s.io", "storageversions/status", "cluster get patch update"},
      // Never served.
      {"", "users", "cluster impersonate"},
      {"authentication.k8s.io", "serviceaccounts", "namespaced impersonate"},
      {"apps", "pods", "none"},
      {"", "deployments", "none"},
      {"", "pods/finalizers", "namespaced update"},
      {"", "nodes/finalizers", "cluster update"},
      {"apps", "pods/finalizers", "none"},
      {"", "/finalizers", "none"},
  };
  for (const auto& c : kCases) {
    const BuiltinResource* found = FindBuiltin(c.group, c.resource);
    const std::string text = found == nullptr ? "none"
                                              : (found->namespaced ? "namespaced " : "cluster ") +
                                                    std::string(found->verbs);
    EXPECT_EQ(text, c.want) << c.group << " " << c.resource;
  }
}

TEST(NearestBuiltin, FindsTheMostSimilarName) {
  const struct {
    std::string group;
    std::string_view resource;
    std::string_view want;  // "none", or "resource.group"
  } kCases[] = {
      {"apps", "deployment", "deployments.apps"},
      {"", "deployments", "deployments.apps"},
      {"apps", "deploymens", "deployments.apps"},
      {"apps", "xdaployments", "deployments.apps"},
      {"apps", "xdaploymentz", "none"},
      {"", "event", "events."},
      {"events.k8s.io", "event", "events.events.k8s.io"},
      {"", "pod", "pods."},  // in a short word only one letter may differ
      {"", "po", "none"},
      {"", "poxes", "nodes."},
      {"", "ponds", "pods."},
      {"", "frobnicators", "none"},
  };
  for (const auto& c : kCases) {
    const BuiltinResource* found = NearestBuiltin({&c.group, 1}, c.resource);
    const std::string text =
        found == nullptr ? "none" : std::string(found->resource) + "." + std::string(found->group);
    EXPECT_EQ(text, c.want) << c.group << " " << c.resource;
  }
}

TEST(KnowsVerb, KnowsTheVerbsOfTheResource) {
  const struct {
    BuiltinResource resource;
    std::string_view verb;
    bool want;
  } kCases[] = {
      {{"", "x", true, "get list watch"}, "get", true},
      {{"", "x", true, "get list watch"}, "list", true},
      {{"", "x", true, "get list watch"}, "watch", true},
      {{"", "x", true, "get list watch"}, "wat", false},
      {{"", "x", true, "get list watch"}, "get list", false},
      {{"", "x", true, "get list watch"}, "", false},
      {{"", "x", true, "get list watch"}, "impersonate:user-info", false},
      {{"", "x", true, "impersonate"}, "impersonate", true},
      {{"", "x", true, "impersonate"}, "impersonate:user-info", true},
      {{"", "x", true, "impersonate"}, "impersonates", false},
  };
  for (const auto& c : kCases) EXPECT_EQ(KnowsVerb(c.resource, c.verb), c.want) << c.verb;
}

}  // namespace
}  // namespace mandate::rbacgen
