#include "manager/rbac/rule.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "manager/rbac/testing/rule_text.h"

namespace mandate::rbac {
namespace {

using Strings = std::vector<std::string>;

struct MatchCase {
  std::string what;
  Strings listed;
  std::string wanted;
  bool matches;
};

TEST(RuleTest, VerbsAndGroupsMatchByWholeStringsOrStar) {
  const MatchCase cases[] = {
      {"equal", {"get"}, "get", true},
      {"one of several", {"get", "list"}, "list", true},
      {"another", {"get"}, "list", false},
      {"star", {"*"}, "bind", true},
      {"star beside others", {"get", "*"}, "patch", true},
      {"case counts", {"Get"}, "get", false},
      {"a prefix is no glob", {"ge*"}, "get", false},
      {"star is no glob inside", {"*et"}, "get", false},
      {"two stars are a word", {"**"}, "get", false},
      {"asked for a star", {"get"}, "*", false},
      {"blank is not trimmed", {" get"}, "get", false},
      {"nothing listed", {}, "get", false},
      {"the empty string is a value", {""}, "", true},
      {"the empty string is not every value", {""}, "apps", false},
      {"a group's prefix is no glob", {"apps*"}, "apps", false},
      {"a group's subdomain is another group", {"example.com"}, "a.example.com", false},
  };
  for (const MatchCase& c : cases) {
    Rule rule;
    rule.verbs = c.listed;
    rule.api_groups = c.listed;
    EXPECT_EQ(VerbMatches(rule, c.wanted), c.matches) << c.what;
    EXPECT_EQ(GroupMatches(rule, c.wanted), c.matches) << c.what;
  }
}

struct ResourceCase {
  std::string what;
  Strings listed;
  std::string resource;
  std::string subresource;
  bool matches;
};

TEST(RuleTest, Resources) {
  const ResourceCase cases[] = {
      {"equal", {"pods"}, "pods", "", true},
      {"case counts", {"Pods"}, "pods", "", false},
      {"singular", {"pod"}, "pods", "", false},
      {"a resource is not its subresource", {"pods"}, "pods", "log", false},
      {"a subresource is not its resource", {"pods/log"}, "pods", "", false},
      {"exact subresource", {"pods/log"}, "pods", "log", true},
      {"another subresource", {"pods/log"}, "pods", "exec", false},
      {"another parent", {"pods/log"}, "jobs", "log", false},
      {"star", {"*"}, "pods", "", true},
      {"star holds subresources", {"*"}, "pods", "log", true},
      {"star and slash", {"*/scale"}, "deployments", "scale", true},
      {"star and slash needs the subresource", {"*/scale"}, "deployments", "", false},
      {"star and slash, another", {"*/scale"}, "deployments", "status", false},
      {"star and slash, a longer one", {"*/scale"}, "deployments", "xscale", false},
      {"star and slash, a shorter one", {"*/scale"}, "deployments", "cale", false},
      {"slash and star is literal", {"pods/*"}, "pods", "log", false},
      {"slash and star as itself", {"pods/*"}, "pods", "*", true},
      {"star, slash, star is literal", {"*/*"}, "pods", "log", false},
      {"star, slash, star does not hold resources", {"*/*"}, "pods", "", false},
      {"a prefix is no glob", {"pod*"}, "pods", "", false},
      {"a prefix of the parent is no glob", {"p*/log"}, "pods", "log", false},
      {"a parent of one letter is no star", {"p/log"}, "pods", "log", false},
      {"nothing listed", {}, "pods", "", false},
      {"a later entry", {"nodes", "pods/log", "*/status"}, "jobs", "status", true},
      // A SubjectAccessReview may have these values; a URL cannot.
      {"the combined name as resource", {"pods/log"}, "pods/log", "", true},
      {"star and slash wants a real subresource", {"*/log"}, "pods/log", "", false},
      {"a subresource with a slash", {"pods/proxy/x"}, "pods", "proxy/x", true},
      {"star and a subresource with a slash", {"*/proxy/x"}, "pods", "proxy/x", true},
      {"an empty resource", {"/log"}, "", "log", true},
  };
  for (const ResourceCase& c : cases) {
    Rule rule;
    rule.resources = c.listed;
    EXPECT_EQ(ResourceMatches(rule, c.resource, c.subresource), c.matches) << c.what;
  }
}

TEST(RuleTest, Names) {
  const MatchCase cases[] = {
      {"no names: any", {}, "a", true},
      {"no names: also none", {}, "", true},
      {"named", {"a", "b"}, "b", true},
      {"another", {"a"}, "b", false},
      {"names never match no name", {"a"}, "", false},
      {"star is a name", {"*"}, "a", false},
      {"star named", {"*"}, "*", true},
      {"a prefix is no glob", {"a*"}, "ab", false},
      {"case counts", {"A"}, "a", false},
      {"an empty name is listed", {""}, "", true},
      {"an empty name is not any name", {""}, "a", false},
  };
  for (const MatchCase& c : cases) {
    Rule rule;
    rule.resource_names = c.listed;
    EXPECT_EQ(NameMatches(rule, c.wanted), c.matches) << c.what;
  }
}

TEST(RuleTest, Urls) {
  const MatchCase cases[] = {
      {"equal", {"/healthz"}, "/healthz", true},
      {"no implied prefix", {"/healthz"}, "/healthz/ping", false},
      {"a slash more", {"/healthz"}, "/healthz/", false},
      {"a slash less", {"/healthz/"}, "/healthz", false},
      {"case counts", {"/Healthz"}, "/healthz", false},
      {"star", {"*"}, "/anything/at/all", true},
      {"star after a slash", {"/*"}, "/healthz", true},
      {"prefix", {"/healthz/*"}, "/healthz/ping", true},
      {"prefix, itself", {"/healthz/*"}, "/healthz/", true},
      {"prefix with its slash", {"/healthz/*"}, "/healthz", false},
      {"prefix within a segment", {"/heal*"}, "/healthz/ping", true},
      {"all trailing stars go", {"/healthz/***"}, "/healthz/ping", true},
      {"only stars", {"***"}, "/healthz", true},
      {"a star inside is literal", {"/api/*/pods"}, "/api/v1/pods", false},
      {"a star inside, asked for", {"/api/*/pods"}, "/api/*/pods", true},
      {"a star inside a prefix", {"/a*b*"}, "/aXb", false},
      {"nothing listed", {}, "/healthz", false},
      {"an empty URL is not every URL", {""}, "/healthz", false},
  };
  for (const MatchCase& c : cases) {
    Rule rule;
    rule.non_resource_urls = c.listed;
    EXPECT_EQ(UrlMatches(rule, c.wanted), c.matches) << c.what;
  }
}

Attributes Get(std::string group, std::string resource, std::string name) {
  Attributes request;
  request.verb = "get";
  request.api_group = std::move(group);
  request.resource = std::move(resource);
  request.name = std::move(name);
  return request;
}

TEST(RuleTest, AllFourMustMatch) {
  const Rule rule = RuleOf("apps|deployments|web|-|get;list");
  EXPECT_TRUE(RuleAllows(rule, Get("apps", "deployments", "web")));
  EXPECT_FALSE(RuleAllows(rule, Get("", "deployments", "web")));
  EXPECT_FALSE(RuleAllows(rule, Get("apps", "daemonsets", "web")));
  EXPECT_FALSE(RuleAllows(rule, Get("apps", "deployments", "db")));
  Attributes request = Get("apps", "deployments", "web");
  request.verb = "delete";
  EXPECT_FALSE(RuleAllows(rule, request));
  request.verb = "list";
  EXPECT_TRUE(RuleAllows(rule, request)) << "a list with metadata.name=web";
  request.name = "";
  EXPECT_FALSE(RuleAllows(rule, request)) << "a list of all";
}

TEST(RuleTest, VersionAndNamespaceDoNotMatter) {
  const Rule rule = RuleOf("apps|deployments|-|-|get");
  for (const char* version : {"", "v1", "v1beta1", "*"}) {
    Attributes request = Get("apps", "deployments", "web");
    request.api_version = version;
    request.ns = version;
    EXPECT_TRUE(RuleAllows(rule, request)) << version;
  }
}

TEST(RuleTest, ResourcesAndUrlsAreApart) {
  const Rule everything = RuleOf("*|*|-|-|*");
  const Rule every_url = RuleOf("-|-|-|*|*");
  Attributes url;
  url.verb = "get";
  url.is_resource_request = false;
  url.path = "/metrics";
  EXPECT_FALSE(RuleAllows(everything, url));
  EXPECT_TRUE(RuleAllows(every_url, url));
  EXPECT_TRUE(RuleAllows(everything, Get("apps", "deployments", "web")));
  EXPECT_FALSE(RuleAllows(every_url, Get("apps", "deployments", "web")));
}

TEST(RuleTest, NamesDoNotNarrowUrls) {
  const Rule rule = RuleOf("-|-|x|/metrics|get");
  Attributes url;
  url.verb = "get";
  url.is_resource_request = false;
  url.path = "/metrics";
  EXPECT_TRUE(RuleAllows(rule, url));
}

// The same checks at compile time.
constexpr std::string_view kVerbs[] = {"get", "list"};
constexpr std::string_view kGroups[] = {""};
constexpr std::string_view kResources[] = {"pods", "*/scale"};
constexpr std::string_view kNames[] = {"web"};
constexpr std::string_view kUrls[] = {"/healthz/*"};
constexpr RuleView kRule{kVerbs, kGroups, kResources, kNames, {}};
static_assert(VerbMatches(kRule, "get") && !VerbMatches(kRule, "watch"));
static_assert(GroupMatches(kRule, "") && !GroupMatches(kRule, "apps"));
static_assert(ResourceMatches(kRule, "pods", "") && !ResourceMatches(kRule, "pods", "log"));
static_assert(ResourceMatches(kRule, "jobs", "scale") && !ResourceMatches(kRule, "jobs", ""));
static_assert(NameMatches(kRule, "web") && !NameMatches(kRule, ""));
static_assert(UrlMatches(RuleView{kVerbs, {}, {}, {}, kUrls}, "/healthz/ping"));
static_assert(!UrlMatches(RuleView{kVerbs, {}, {}, {}, kUrls}, "/healthz"));

}  // namespace
}  // namespace mandate::rbac
