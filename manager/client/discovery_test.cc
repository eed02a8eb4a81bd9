#include "manager/client/discovery.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "manager/client/testing/fake_rest_client.h"
#include "manager/core/testing/simulated_loop.h"

namespace mandate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// A resource as the server lists it, with further members.
constexpr char kCore[] = R"({
  "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {},
  "items": [{"metadata": {"creationTimestamp": null}, "versions": [{
    "version": "v1", "freshness": "Current", "resources": [
      {"resource": "pods", "responseKind": {"group": "", "version": "", "kind": "Pod"},
       "scope": "Namespaced", "singularResource": "pod", "verbs": ["get", "list"],
       "shortNames": ["po"], "categories": ["all"],
       "subresources": [{"subresource": "log", "verbs": ["get"]}]},
      {"resource": "nodes", "scope": "Cluster", "verbs": ["get"]}]}]}]})";
constexpr char kGroups[] = R"({
  "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2",
  "items": [
    {"metadata": {"name": "apps"}, "versions": [
      {"version": "v1", "resources": [{"resource": "deployments", "scope": "Namespaced"}]}]},
    {"metadata": {"name": "example.com"}, "versions": [
      {"version": "v2", "resources": [{"resource": "widgets", "scope": "Cluster"}]},
      {"version": "v1", "resources": [{"resource": "widgets", "scope": "Namespaced"},
                                      {"resource": "gears", "scope": "Namespaced"}]}]},
    {"metadata": {"name": "stale.example.com"},
     "versions": [{"version": "v1", "freshness": "Stale"}]}]})";

TEST(ParseDiscoveryTest, ScopesOfEveryGroup) {
  const auto core = ParseDiscovery(kCore);
  ASSERT_TRUE(core.ok()) << core.status();
  EXPECT_EQ(core->scopes,
            (ResourceScopes{{{"", "nodes"}, Scope::kCluster}, {{"", "pods"}, Scope::kNamespaced}}));
  const auto groups = ParseDiscovery(kGroups);
  ASSERT_TRUE(groups.ok()) << groups.status();
  EXPECT_THAT(core->incomplete, IsEmpty());
  EXPECT_THAT(groups->incomplete, ElementsAre("stale.example.com"));
  EXPECT_EQ(groups->scopes, (ResourceScopes{{{"apps", "deployments"}, Scope::kNamespaced},
                                            // The preferred version counts, and a resource that
                                            // only an older version has.
                                            {{"example.com", "widgets"}, Scope::kCluster},
                                            {{"example.com", "gears"}, Scope::kNamespaced}}));
}

// From each answer the one valid resource is read.
TEST(ParseDiscoveryTest, SkipsMalformedEntries) {
  const std::string_view odd[] = {
      R"({"scope": "Cluster"})",
      R"({"resource": "", "scope": "Cluster"})",
      R"({"resource": 5, "scope": "Cluster"})",
      R"({"resource": "b"})",
      R"({"resource": "b", "scope": "Galactic"})",
      R"({"resource": "b", "scope": null})",
      R"("b")",
      "null",
      "7",
      "[]",
  };
  for (const std::string_view resource : odd) {
    const std::string body =
        R"({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "g"}, "versions": [)"
        R"({"resources": [)" +
        std::string(resource) + R"(, {"resource": "a", "scope": "Cluster"}]}]}]})";
    const auto scopes = ParseDiscovery(body);
    ASSERT_TRUE(scopes.ok()) << resource << scopes.status();
    EXPECT_EQ(scopes->scopes, (ResourceScopes{{{"g", "a"}, Scope::kCluster}})) << resource;
  }
  for (const std::string_view items :
       {"", R"(, "items": null)", R"(, "items": {})", R"(, "items": [])", R"(, "items": [null, 1])",
        R"(, "items": [{"metadata": 1, "versions": 2}])",
        R"(, "items": [{"versions": [null, {"resources": 3}]}])"}) {
    const auto scopes =
        ParseDiscovery(R"({"kind": "APIGroupDiscoveryList")" + std::string(items) + "}");
    ASSERT_TRUE(scopes.ok()) << items << scopes.status();
    EXPECT_THAT(scopes->scopes, IsEmpty()) << items;
  }
}

TEST(ParseDiscoveryTest, OtherDocumentsAreErrors) {
  for (const std::string_view body :
       {"", "{", "null", "[]", "{}", R"({"kind": "APIVersions", "versions": ["v1"]})",
        R"({"kind": 5, "items": []})", R"("APIGroupDiscoveryList")"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseDiscovery(body).status())) << body;
  }
}

constexpr char kCluster[] = "cluster";
constexpr char kNamespaced[] = "namespaced";
constexpr char kNotServed[] = "not served";
constexpr char kUnknown[] = "unknown";

class DiscoveryTest : public testing::Test {
 protected:
  DiscoveryTest() {
    client_.Handle([this](const RestRequest& request) -> absl::StatusOr<HttpResponse> {
      EXPECT_EQ(request.accept,
                "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList");
      EXPECT_EQ(request.body, "");
      if (request.target == "/api") return FakeRestClient::Json(core_code_, core_);
      EXPECT_EQ(request.target, "/apis");
      return FakeRestClient::Json(groups_code_, groups_);
    });
  }
  std::string Ask(std::string_view group, std::string_view resource) {
    const auto scope = discovery_.ScopeOf({}, group, resource);
    if (absl::IsNotFound(scope.status())) return kNotServed;
    if (absl::IsUnavailable(scope.status())) return kUnknown;
    return *scope == Scope::kCluster ? kCluster : kNamespaced;
  }
  // The number of requests since the last call.
  size_t Sent() {
    const size_t count = client_.requests().size();
    client_.ForgetRequests();
    return count;
  }

  SimulatedLoop loop_;
  FakeRestClient client_{loop_, "scope"};
  Discovery discovery_{client_, absl::Seconds(30)};
  int core_code_ = 200, groups_code_ = 200;
  std::string core_ = kCore, groups_ = kGroups;
};

TEST_F(DiscoveryTest, AsksOnceForKnownResources) {
  EXPECT_EQ(Ask("", "pods"), kNamespaced);
  EXPECT_THAT(client_.requests(), ElementsAre("GET /api", "GET /apis"));
  Sent();
  EXPECT_EQ(Ask("", "nodes"), kCluster);
  EXPECT_EQ(Ask("example.com", "widgets"), kCluster);
  loop_.RunFor(absl::Hours(24));
  EXPECT_EQ(Ask("apps", "deployments"), kNamespaced);
  EXPECT_EQ(Sent(), 0u);
}

constexpr char kKinds[] = R"({"kind": "APIGroupDiscoveryList", "items": [
  {"metadata": {"name": "example.com"}, "versions": [
    {"version": "v2", "resources": [
      {"resource": "widgets", "scope": "Cluster", "responseKind": {"kind": "Widget"}},
      {"resource": "nameless", "scope": "Cluster", "responseKind": {}}]},
    {"version": "v1", "resources": [
      {"resource": "widgets", "scope": "Namespaced", "responseKind": {"kind": "Widget"}},
      {"resource": "geese", "scope": "Namespaced", "responseKind": {"kind": "Goose"}}]}]}]})";

TEST_F(DiscoveryTest, FindsTheResourceOfAKind) {
  groups_ = kKinds;
  EXPECT_EQ(*discovery_.Find({}, "example.com", "Goose"),
            (DynamicKind{"example.com", "v1", "Goose", "geese", Scope::kNamespaced}));
  EXPECT_EQ(Sent(), 2u);
  EXPECT_EQ(*discovery_.Find({}, "example.com", "Widget"),
            (DynamicKind{"example.com", "v2", "Widget", "widgets", Scope::kCluster}))
      << "the server prefers it";
  EXPECT_EQ(discovery_.Find({}, "example.com", "Widget", "v1")->scope, Scope::kNamespaced);
  EXPECT_EQ(discovery_.Find({}, "", "Pod")->info().plural, "pods");
  EXPECT_EQ(Ask("example.com", "geese"), kNamespaced);
  EXPECT_EQ(discovery_.Find({}, "example.com", "Goose", "v2").status(),
            absl::NotFoundError(
                R"(the server does not serve kind Goose of group "example.com" in version v2)"));
  EXPECT_EQ(discovery_.Find({}, "", "Widget").status(),
            absl::NotFoundError(R"(the server does not serve kind Widget of group "")"));
  EXPECT_TRUE(absl::IsNotFound(discovery_.Find({}, "example.com", "").status()));
  EXPECT_EQ(Sent(), 0u) << "it has just asked";
}

TEST_F(DiscoveryTest, AKindIsAskedForAgainAfterItsInterval) {
  EXPECT_TRUE(absl::IsNotFound(discovery_.Find({}, "example.com", "Goose").status()));
  groups_ = kKinds;
  loop_.RunFor(absl::Seconds(30));
  EXPECT_TRUE(discovery_.Find({}, "example.com", "Goose").ok());
  // The server of the group is down: what it served is kept, and all else is unknown.
  groups_ = R"({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "example.com"},
                "versions": [{"version": "v1", "freshness": "Stale"}]}]})";
  loop_.RunFor(absl::Seconds(30));
  EXPECT_EQ(discovery_.Find({}, "example.com", "Duck").status(),
            absl::UnavailableError(
                R"(cannot determine the resource of kind Duck of group "example.com": the server )"
                "has no fresh list of the group's resources"));
  EXPECT_TRUE(discovery_.Find({}, "example.com", "Goose").ok());
  groups_code_ = 503;
  loop_.RunFor(absl::Seconds(30));
  EXPECT_TRUE(absl::IsUnavailable(discovery_.Find({}, "other.com", "Duck").status()));
}

TEST_F(DiscoveryTest, GroupAndResourceBelongTogether) {
  EXPECT_EQ(Ask("", "deployments"), kNotServed);
  EXPECT_EQ(Ask("apps", "pods"), kNotServed);
  EXPECT_EQ(Ask("apps", ""), kNotServed);
  EXPECT_EQ(Ask("", "pods/log"), kNotServed);
}

TEST_F(DiscoveryTest, AsksForTheUnknownNoMoreOftenThanItsInterval) {
  EXPECT_EQ(Ask("new.example.com", "things"), kNotServed);
  EXPECT_EQ(Sent(), 2u);
  for (int i = 0; i < 29; ++i) {
    EXPECT_EQ(Ask("new.example.com", "things"), kNotServed);
    EXPECT_EQ(Ask("other.example.com", "things"), kNotServed);
    EXPECT_EQ(Ask("", "pods"), kNamespaced);
    loop_.RunFor(absl::Seconds(1));
  }
  EXPECT_EQ(Sent(), 0u);
  groups_ = R"({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name":
      "new.example.com"}, "versions": [{"resources": [{"resource": "things",
      "scope": "Cluster"}]}]}]})";
  EXPECT_EQ(Ask("new.example.com", "things"), kNotServed) << "a second too early";
  loop_.RunFor(absl::Seconds(1));
  EXPECT_EQ(Ask("new.example.com", "things"), kCluster);
  EXPECT_EQ(Sent(), 2u);
  // Resources that were removed meanwhile are forgotten.
  EXPECT_EQ(Ask("apps", "deployments"), kNotServed);
  EXPECT_EQ(Sent(), 0u);
}

TEST_F(DiscoveryTest, AFailureKeepsKnownResources) {
  ASSERT_EQ(Ask("", "pods"), kNamespaced);
  const struct {
    const char* name;
    int core_code, groups_code;
    std::string core, groups;
  } rows[] = {
      {"no right to /api", 403, 200, "{}", kGroups},
      {"no right to /apis", 200, 403, kCore, "{}"},
      {"an old server", 406, 406, "", ""},
      {"half an answer", 200, 200, kCore, R"({"kind": "APIGroupDisc)"},
  };
  for (const auto& row : rows) {
    core_code_ = row.core_code;
    groups_code_ = row.groups_code;
    core_ = row.core;
    groups_ = row.groups;
    loop_.RunFor(absl::Seconds(30));
    Sent();
    EXPECT_EQ(Ask("example.com", "unknown"), kUnknown) << row.name;
    EXPECT_GE(Sent(), 1u) << row.name;
    EXPECT_EQ(Ask("example.com", "unknown"), kUnknown) << row.name;
    EXPECT_EQ(Ask("", "pods"), kNamespaced) << row.name;
    EXPECT_EQ(Ask("example.com", "gears"), kNamespaced) << row.name;
    EXPECT_EQ(Sent(), 0u) << row.name << ": a failure too waits for the next turn";
  }
}

// It is unknown whether a resource is served before the first answer, and after a failure.
TEST_F(DiscoveryTest, UnknownIsNotNotFound) {
  groups_code_ = 500;
  EXPECT_EQ(Ask("", "pods"), kUnknown);
  EXPECT_EQ(Ask("none.example.com", "things"), kUnknown);
  groups_code_ = 200;
  loop_.RunFor(discovery_.min_interval());
  EXPECT_EQ(Ask("", "pods"), kNamespaced);
  EXPECT_EQ(Ask("none.example.com", "things"), kNotServed);
  EXPECT_EQ(Ask("stale.example.com", "things"), kUnknown);
}

// The server behind an APIService is down. Its group is listed without resources.
TEST_F(DiscoveryTest, AGroupThatIsEmptyForNowIsNotForgotten) {
  ASSERT_EQ(Ask("example.com", "widgets"), kCluster);
  ASSERT_EQ(Ask("apps", "deployments"), kNamespaced);
  groups_ = R"({"kind": "APIGroupDiscoveryList", "items": [{"metadata": {"name": "example.com"},
      "versions": [{"version": "v2", "freshness": "Stale"}]}]})";
  loop_.RunFor(discovery_.min_interval());
  EXPECT_EQ(Ask("example.com", "unknown"), kUnknown);
  EXPECT_EQ(Ask("example.com", "widgets"), kCluster) << "as it was";
  EXPECT_EQ(Ask("apps", "deployments"), kNotServed) << "this group is gone";
}

// Several reconcilers need it at once. One of them asks, no other waits for its answer, and all get
// the right result.
TEST_F(DiscoveryTest, OneOfManyCallersAsks) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SimulatedLoop loop;
    SimulatedPool pool(loop, seed);
    std::mt19937_64 random(seed);
    FakeRestClient client(loop, "scope");
    client.SetDelay(
        [&] { return absl::Milliseconds(std::uniform_int_distribution<int>(0, 2)(random)); });
    client.Handle([](const RestRequest& request) {
      return FakeRestClient::Json(200, request.target == "/api" ? kCore : kGroups);
    });
    Discovery discovery(client);
    int known = 0, unknown = 0;
    for (int i = 0; i < 8; ++i) {
      pool.Post([&] {
        const auto scope = discovery.ScopeOf({}, "", "nodes");
        if (scope.ok()) {
          EXPECT_EQ(*scope, Scope::kCluster);
        }
        ++(scope.ok() ? known : unknown);
      });
    }
    loop.RunFor(absl::Minutes(1));
    EXPECT_EQ(known + unknown, 8);
    EXPECT_GE(known, 1);
    EXPECT_EQ(client.requests().size(), 2u);
    EXPECT_EQ(discovery.ScopeOf({}, "", "nodes").value_or(Scope::kNamespaced), Scope::kCluster);
  }
}

TEST_F(DiscoveryTest, StopsWithItsCaller) {
  std::stop_source stop;
  client_.SetDelay([] { return absl::Seconds(1); });
  loop_.PostAt(loop_.clock().TimeNow() + absl::Milliseconds(500), [&] { stop.request_stop(); });
  const CallContext context{absl::InfiniteFuture(), stop.get_token()};
  EXPECT_TRUE(absl::IsUnavailable(discovery_.ScopeOf(context, "", "pods").status()));
  EXPECT_THAT(client_.requests(), ElementsAre("GET /api"));
}

}  // namespace
}  // namespace mandate
