#include "manager/rbac/covers.h"

#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace mandate::rbac {
namespace {

using Strings = std::vector<std::string>;
using Rules = std::vector<Rule>;

Rule On(Strings verbs, Strings groups, Strings resources, Strings names = {}) {
  return {.verbs = std::move(verbs),
          .api_groups = std::move(groups),
          .resources = std::move(resources),
          .resource_names = std::move(names),
          .non_resource_urls = {}};
}

Rule OnUrls(Strings verbs, Strings urls) {
  return {.verbs = std::move(verbs),
          .api_groups = {},
          .resources = {},
          .resource_names = {},
          .non_resource_urls = std::move(urls)};
}

TEST(CoversTest, BreaksDownIntoSingles) {
  EXPECT_EQ(Breakdown(On({"get", "list"}, {"", "apps"}, {"pods"})),
            (Rules{On({"get"}, {""}, {"pods"}), On({"list"}, {""}, {"pods"}),
                   On({"get"}, {"apps"}, {"pods"}), On({"list"}, {"apps"}, {"pods"})}));
  EXPECT_EQ(Breakdown(On({"get"}, {""}, {"pods"}, {"a", "b"})),
            (Rules{On({"get"}, {""}, {"pods"}, {"a"}), On({"get"}, {""}, {"pods"}, {"b"})}));
  EXPECT_EQ(Breakdown(OnUrls({"get", "head"}, {"/a", "/b"})),
            (Rules{OnUrls({"get"}, {"/a"}), OnUrls({"head"}, {"/a"}), OnUrls({"get"}, {"/b"}),
                   OnUrls({"head"}, {"/b"})}));
  EXPECT_EQ(Breakdown(On({}, {""}, {"pods"})), Rules{});
  EXPECT_EQ(Breakdown(On({"get"}, {}, {"pods"})), Rules{});
  EXPECT_EQ(Breakdown(On({"get"}, {""}, {})), Rules{});
}

TEST(CoversTest, Uncovered) {
  struct Case {
    std::string what;
    Rules held;
    Rules wanted;
    Rules missing;
  };
  const Rule get_pods = On({"get"}, {""}, {"pods"});
  const Case cases[] = {
      {"nothing wanted", {}, {}, {}},
      {"nothing held", {}, {get_pods}, {get_pods}},
      {"the same", {get_pods}, {get_pods}, {}},
      {"more verbs",
       {get_pods},
       {On({"get", "list"}, {""}, {"pods"})},
       {On({"list"}, {""}, {"pods"})}},
      {"verbs of two rules",
       {get_pods, On({"list"}, {""}, {"pods"})},
       {On({"get", "list"}, {""}, {"pods"})},
       {}},
      {"a rule without verbs wants nothing", {}, {On({}, {""}, {"pods"})}, {}},
      {"star verb held", {On({"*"}, {""}, {"pods"})}, {get_pods}, {}},
      {"star verb wanted", {get_pods}, {On({"*"}, {""}, {"pods"})}, {On({"*"}, {""}, {"pods"})}},
      {"all verbs there are make no star",
       {On({"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"},
           {""}, {"pods"})},
       {On({"*"}, {""}, {"pods"})},
       {On({"*"}, {""}, {"pods"})}},
      {"another group",
       {get_pods},
       {On({"get"}, {"apps"}, {"pods"})},
       {On({"get"}, {"apps"}, {"pods"})}},
      {"star group held", {On({"get"}, {"*"}, {"pods"})}, {get_pods}, {}},
      {"star group wanted",
       {get_pods},
       {On({"get"}, {"*"}, {"pods"})},
       {On({"get"}, {"*"}, {"pods"})}},
      {"verb and group of different rules",
       {On({"get"}, {""}, {"nodes"}), On({"list"}, {""}, {"pods"})},
       {get_pods},
       {get_pods}},
      {"a resource does not hold its subresource",
       {get_pods},
       {On({"get"}, {""}, {"pods/log"})},
       {On({"get"}, {""}, {"pods/log"})}},
      {"star holds subresources",
       {On({"get"}, {""}, {"*"})},
       {On({"get"}, {""}, {"pods/log", "pods", "*/scale", "*"})},
       {}},
      {"star and slash held",
       {On({"get"}, {""}, {"*/log"})},
       {On({"get"}, {""}, {"pods/log"})},
       {}},
      {"star and slash held, the plain resource wanted",
       {On({"get"}, {""}, {"*/log"})},
       {get_pods},
       {get_pods}},
      {"star and slash wanted",
       {On({"get"}, {""}, {"pods/log"})},
       {On({"get"}, {""}, {"*/log"})},
       {On({"get"}, {""}, {"*/log"})}},
      {"slash and star is a name",
       {On({"get"}, {""}, {"pods/*"})},
       {On({"get"}, {""}, {"pods/log"})},
       {On({"get"}, {""}, {"pods/log"})}},
      {"everything behind the first slash",
       {On({"get"}, {""}, {"*/a/b"})},
       {On({"get"}, {""}, {"pods/a/b"})},
       {}},
      {"any name held", {get_pods}, {On({"get"}, {""}, {"pods"}, {"a"})}, {}},
      {"any name wanted", {On({"get"}, {""}, {"pods"}, {"a"})}, {get_pods}, {get_pods}},
      {"names",
       {On({"get"}, {""}, {"pods"}, {"a", "b"})},
       {On({"get"}, {""}, {"pods"}, {"b", "c"})},
       {On({"get"}, {""}, {"pods"}, {"c"})}},
      {"names of two rules",
       {On({"get"}, {""}, {"pods"}, {"a"}), On({"get"}, {""}, {"pods"}, {"b"})},
       {On({"get"}, {""}, {"pods"}, {"a", "b"})},
       {}},
      {"star is a name",
       {On({"get"}, {""}, {"pods"}, {"*"})},
       {On({"get"}, {""}, {"pods"}, {"a"})},
       {On({"get"}, {""}, {"pods"}, {"a"})}},
      {"URL",
       {OnUrls({"get"}, {"/a"})},
       {OnUrls({"get"}, {"/a", "/b"})},
       {OnUrls({"get"}, {"/b"})}},
      {"URL prefix",
       {OnUrls({"get"}, {"/a/*"})},
       {OnUrls({"get"}, {"/a/b", "/a/b/*", "/a/*"})},
       {}},
      {"URL prefix with its slash",
       {OnUrls({"get"}, {"/a/*"})},
       {OnUrls({"get"}, {"/a"})},
       {OnUrls({"get"}, {"/a"})}},
      {"a narrower URL prefix",
       {OnUrls({"get"}, {"/a/b*"})},
       {OnUrls({"get"}, {"/a/*"})},
       {OnUrls({"get"}, {"/a/*"})}},
      {"every URL", {OnUrls({"*"}, {"*"})}, {OnUrls({"get", "*"}, {"/a", "*", "x"})}, {}},
      {"names are compared for URLs too, and what is wanted of a URL has none",
       {{{"get"}, {}, {}, {"a"}, {"/a"}}},
       {OnUrls({"get"}, {"/a"})},
       {OnUrls({"get"}, {"/a"})}},
      {"URLs are no resources",
       {On({"*"}, {"*"}, {"*"})},
       {OnUrls({"get"}, {"/a"})},
       {OnUrls({"get"}, {"/a"})}},
      {"resources are no URLs", {OnUrls({"*"}, {"*"})}, {get_pods}, {get_pods}},
      {"a held rule for both",
       {{{"get"}, {""}, {"pods"}, {}, {"/a"}}},
       {get_pods, OnUrls({"get"}, {"/a"})},
       {}},
  };
  for (const Case& c : cases) EXPECT_EQ(Uncovered(c.held, c.wanted), c.missing) << c.what;
}

TEST(CoversTest, CompactString) {
  EXPECT_EQ(CompactString(On({"get", "list"}, {""}, {"pods"}, {"a"})),
            R"({APIGroups:[""], Resources:["pods"], ResourceNames:["a"], Verbs:["get" "list"]})");
  EXPECT_EQ(CompactString(OnUrls({"get"}, {"/a"})), R"({NonResourceURLs:["/a"], Verbs:["get"]})");
  EXPECT_EQ(CompactString({}), "{}");
}

}  // namespace
}  // namespace mandate::rbac
