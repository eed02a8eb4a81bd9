// Tests the parts of the comparison without a server: the generated worlds and questions
// distinguish a wrong authorizer from ours.
#include <map>
#include <set>
#include <string>

#include "gtest/gtest.h"
#include "testing/rbac_fidelity/decide.h"
#include "testing/rbac_fidelity/probes.h"
#include "testing/rbac_fidelity/questions.h"
#include "testing/rbac_fidelity/world.h"

namespace mandate::fidelity {
namespace {

constexpr int kQuestions = 5000;

TEST(GeneratedTest, TheSameSeedGivesTheSame) {
  const World world = MakeWorld(7);
  EXPECT_EQ(world.policy, MakeWorld(7).policy);
  EXPECT_NE(world.policy, MakeWorld(8).policy);
  Questions one(world, 7);
  Questions two(world, 7);
  Probes first("u", 7);
  Probes second("u", 7);
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(one.Next().ToString(), two.Next().ToString());
    EXPECT_EQ(first.Next().target, second.Next().target);
  }
}

TEST(GeneratedTest, AsksEnoughThatIsAllowedAndEveryFeature) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const World world = MakeWorld(seed);
    // Adds the server's own aggregated role, to which generated bindings refer.
    rbac::Policy policy = world.policy;
    rbac::Rule view;
    view.verbs = {"get", "list", "watch"};
    view.api_groups = {""};
    view.resources = {"pods", "pods/log", "pods/status", "namespaces"};
    policy.cluster_roles.push_back({kAggregatedRole, {view}});
    policy.cluster_roles.push_back({world.aggregate, world.AggregateRules()});
    const rbac::Authorizer authorizer(std::move(policy));
    Questions questions(world, seed);
    int allowed = 0;
    std::set<std::string_view> seen;
    for (int i = 0; i < kQuestions; ++i) {
      const Question q = questions.Next();
      allowed += Allowed(authorizer, q);
      for (std::string_view feature : FeaturesOf(authorizer, q)) seen.insert(feature);
    }
    EXPECT_GE(allowed * 100, kQuestions * 30) << "seed " << seed;
    EXPECT_LE(allowed * 100, kQuestions * 85) << "seed " << seed;
    for (std::string_view feature : AllFeatures()) {
      EXPECT_TRUE(seen.contains(feature)) << feature << " with seed " << seed;
    }
  }
}

TEST(GeneratedTest, EverySeededBugShows) {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    const World world = MakeWorld(seed);
    const rbac::Authorizer authorizer(world.policy);
    std::map<std::string, int> mismatches;
    Questions questions(world, seed);
    for (int i = 0; i < kQuestions; ++i) {
      const Question q = questions.Next();
      for (const auto& [name, decide] : SeededBugs()) {
        mismatches[name] += decide(authorizer, q) != Allowed(authorizer, q);
      }
    }
    for (const auto& [name, decide] : SeededBugs()) {
      EXPECT_GT(mismatches[name], 0) << name << " with seed " << seed;
    }
  }
}

TEST(GeneratedTest, GrantsAreAcceptedRefusedAndOfNoSuchRole) {
  const World world = MakeWorld(1);
  const rbac::Authorizer authorizer(world.policy);
  Questions questions(world, 1);
  std::map<int, int> roles;
  std::map<int, int> bindings;
  for (int i = 0; i < 500; ++i) {
    const GrantAttempt attempt = questions.NextGrant();
    ++(attempt.is_binding() ? bindings : roles)[ExpectedStatus(authorizer, attempt)];
  }
  EXPECT_GT(roles[201], 50);
  EXPECT_GT(roles[403], 20);
  EXPECT_GT(bindings[201], 50);
  EXPECT_GT(bindings[403], 20);
  EXPECT_GT(bindings[404], 5);
}

TEST(GeneratedTest, ReasonsAreChecked) {
  const World world = MakeWorld(1);
  const rbac::Authorizer authorizer(world.policy);
  Questions questions(world, 1);
  int refused_with_errors = 0;
  for (int i = 0; i < 2000; ++i) {
    const Question q = questions.Next();
    const rbac::Decision d = authorizer.Authorize(q.user, q.request);
    EXPECT_TRUE(CheckReason(authorizer, q, d.allowed, d.reason).ok()) << q.ToString();
    EXPECT_FALSE(CheckReason(authorizer, q, d.allowed, "RBAC: because").ok()) << q.ToString();
    refused_with_errors += !d.allowed && !d.reason.empty();
  }
  EXPECT_GT(refused_with_errors, 0);
}

TEST(GeneratedTest, ProbesTellMessagesApart) {
  Request request = NewRequest("GET", "/api/v1/namespaces/shop/pods?watch=1", "");
  const std::string message =
      R"(pods is forbidden: User \"x\" cannot watch resource \"pods\" in API group \"\" in the )"
      R"(namespace \"shop\")";
  const auto result = [&](int status, const std::string& body) {
    return Compare("x", request, {.code = status, .body = body}).result;
  };
  EXPECT_EQ(result(403, "{\"message\":\"" + message + "\"}"), ProbeResult::kSame);
  EXPECT_EQ(result(403, "{\"message\":\"pods is forbidden\"}"), ProbeResult::kDifferent);
  EXPECT_EQ(result(200, "{}"), ProbeResult::kDifferent);
  request.target = "/version";
  EXPECT_EQ(result(200, "{}"), ProbeResult::kNotComparable);
  request.target = "/api/v1/watch";
  EXPECT_EQ(result(500, "Internal Server Error"), ProbeResult::kSame);
  EXPECT_EQ(result(403, "{}"), ProbeResult::kDifferent);
}

}  // namespace
}  // namespace mandate::fidelity
