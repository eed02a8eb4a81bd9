// The effect of many or slow writes for one ScopeTemplate on revocations.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/numbers.h"
#include "controllers/scope/testing_fixture.h"
#include "testing/apiserver/errors.h"

namespace mandate::scope {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Le;
using testing::SizeIs;
using testing::StartsWith;

constexpr std::string_view kNothing = "";
constexpr std::string_view kPods = R"({"apiGroups":[""],"resources":["pods"],"verbs":["get"]})";
constexpr std::string_view kPodsAndSecrets =
    R"({"apiGroups":[""],"resources":["pods","secrets"],"verbs":["get"]})";

std::string RoleOf(std::string_view generate_name, std::string_view rule) {
  return StrCat(R"({"generateName":")", generate_name, R"(","rules":[)", rule,
                R"(],"subjects":[{"kind":"User","name":"ann"}]})");
}

// Roles with the generateNames "slow0-", "slow1-" and so on.
std::string SlowRoles(int count, std::string_view rule) {
  std::string roles;
  for (int i = 0; i < count; ++i) {
    StrAppend(&roles, i == 0 ? "" : ",", RoleOf(StrCat("slow", i, "-"), rule));
  }
  return roles;
}

class TemplatePortionsTest : public ScopedTest {
 protected:
  // The component reconciles one template at a time.
  TemplatePortionsTest() : ScopedTest({}, {.portion = {}, .max_concurrent_reconciles = 1}) {}

  void DelaySlowRoles() {
    cluster_.faults().Add(
        {.verb = "patch",
         .path_prefix = "/apis/rbac.authorization.k8s.io/v1/clusterroles/scope-template:slow",
         .fault = {.delay = absl::Seconds(8)}});
  }
  void SetRoles(const std::string& roles) {
    EXPECT_EQ(
        cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":[)", roles, "]}}")),
        200);
  }
  // The resourceVersions show the order of writes. Times do not, because time advances while a
  // reconcile waits.
  std::vector<int64_t> VersionsOf(std::string_view prefix) {
    std::vector<int64_t> versions;
    for (const Json::Value& role : cluster_.Ours(kRoles)) {
      if (!NameOf(role).starts_with(StrCat("scope-template:", prefix))) continue;
      EXPECT_TRUE(absl::SimpleAtoi(role["metadata"]["resourceVersion"].asString(),
                                   &versions.emplace_back()));
    }
    return versions;
  }
};

TEST_F(TemplatePortionsTest, SlowRolesDoNotDelayAnotherTemplatesRevocation) {
  Begin(R"("namespaces": ["foo"])", StrCat("[", RoleOf("quick-", kPods), "]"));
  DelaySlowRoles();
  for (int i = 0; i < 5; ++i) {
    const std::string name = StrCat("slow", i);
    EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson(name, StrCat("[", SlowRoles(10, ""), "]"))),
              201);
    EXPECT_EQ(cluster_.Create(kInstances, InstanceJson(name, R"("namespaces": ["foo"])", name)),
              201);
  }
  SetRoles(RoleOf("quick-", kNothing));
  cluster_.RunFor(absl::Minutes(20));
  const std::vector<int64_t> made = VersionsOf("slow"), emptied = VersionsOf("quick");
  ASSERT_THAT(made, SizeIs(50));
  ASSERT_THAT(emptied, SizeIs(1));
  EXPECT_THAT(std::ranges::count_if(made, [&](int64_t v) { return v < emptied[0]; }), Le(20))
      << "events are mapped between the turns, so not all templates are there at the first";
  EXPECT_THAT(cluster_.Templated("slow4"), StartsWith("True TemplatingSuccessful"));
}

class SmallTemplatePortionsTest : public ScopedTest {
 protected:
  SmallTemplatePortionsTest()
      : ScopedTest({}, {.portion = {.max_writes = 5}, .max_concurrent_reconciles = 1}) {}
};

TEST_F(SmallTemplatePortionsTest, RolesThatAreDeniedDoNotDelayAnotherTemplatesRevocation) {
  Begin(R"("namespaces": ["foo"])", StrCat("[", RoleOf("quick-", kPods), "]"));
  const std::string quick = NameOf(cluster_.Our(kRoles));
  const auto deny = [&](const char* verb) {
    cluster_.faults().Add(
        {.verb = verb,
         .path_prefix = "/apis/rbac.authorization.k8s.io/v1/clusterroles/scope-template:slow",
         .fault = {.refuse = apiserver::ApiErrorOf(422, "Invalid", "policy")}});
  };
  // The number of these writes until the quick role has `rules`. The template gets these rules at
  // the third such write.
  const auto writes_until = [&](const std::string& write, std::string_view rules) {
    int tries = 0;
    const auto done = [&] {
      return tries >= 3 && cluster_.Get(kRoles, quick)["rules"].empty() == rules.empty();
    };
    cluster_.intercept = [&](const std::string& one) -> std::optional<HttpResponse> {
      if (one == write && !done() && ++tries == 3) {
        const std::string roles = RoleOf("quick-", rules);
        EXPECT_EQ(
            cluster_.Merge(kTemplates, "foo", StrCat(R"({"spec":{"clusterRoles":[)", roles, "]}}")),
            200);
      }
      return std::nullopt;
    };
    EXPECT_TRUE(cluster_.loop().RunUntil(done));
    cluster_.intercept = nullptr;
    return tries;
  };

  deny("patch");
  EXPECT_EQ(cluster_.Create(kTemplates, TemplateJson("many", StrCat("[", SlowRoles(40, ""), "]"))),
            201);
  EXPECT_EQ(cluster_.Create(kInstances, InstanceJson("many", R"("namespaces": ["foo"])", "many")),
            201);
  EXPECT_LE(writes_until("PATCH clusterroles", kNothing), 12)
      << "two portions, and the role itself";

  cluster_.faults().Clear();
  cluster_.RunFor(absl::Minutes(5));
  ASSERT_THAT(cluster_.Ours(kRoles), SizeIs(41));
  deny("delete");
  EXPECT_EQ(cluster_.Merge(kTemplates, "many", R"({"spec":{"clusterRoles":[]}})"), 200);
  EXPECT_LE(writes_until("DELETE clusterroles", kPods), 12);
}

// Whether a fix adds something or removes something.
TEST_F(SmallTemplatePortionsTest, RequestsOfFixesThatAreDeniedCount) {
  Begin(R"("namespaces": ["foo"])", StrCat("[", SlowRoles(12, kPods), "]"));
  for (const char* patch : {R"({"rules":null})", R"({"metadata":{"labels":{"a":"b"}}})"}) {
    SCOPED_TRACE(patch);
    cluster_.Stop();
    for (const Json::Value& role : cluster_.Ours(kRoles)) {
      EXPECT_EQ(cluster_.Merge(kRoles, NameOf(role), patch), 200);
    }
    int tries = 0, of_the_first = 0;
    cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
      if (write == "PATCH scopetemplates/status" && of_the_first == 0) of_the_first = tries;
      if (write != "PATCH clusterroles") return std::nullopt;
      ++tries;
      HttpResponse denied;
      denied.code = 422;
      return denied;
    };
    cluster_.Start();
    cluster_.Settle();
    EXPECT_EQ(of_the_first, 5) << "what one portion may send";
    EXPECT_GE(tries, 12);
    cluster_.intercept = nullptr;
    cluster_.RunFor(absl::Minutes(2));
    EXPECT_EQ(cluster_.Templated(), kTemplatedSuccess);
  }
}

TEST_F(TemplatePortionsTest, WithinATemplateRevocationsDoNotWaitForSlowGrants) {
  Begin(R"("namespaces": ["foo"])", StrCat("[", SlowRoles(10, kPods), ",", RoleOf("less-", kPods),
                                           ",", RoleOf("gone-", kPods), "]"));
  DelaySlowRoles();
  cluster_.TakeWrites();
  SetRoles(StrCat(SlowRoles(10, kPodsAndSecrets), ",", RoleOf("less-", kNothing)));
  cluster_.RunFor(absl::Minutes(5));
  const std::vector<int64_t> wider = VersionsOf("slow"), less = VersionsOf("less");
  ASSERT_THAT(wider, SizeIs(10));
  ASSERT_THAT(less, SizeIs(1));
  EXPECT_LT(less[0], *std::ranges::min_element(wider));
  const std::vector<std::string> writes = cluster_.TakeWrites();
  EXPECT_LE(std::count(writes.begin(), std::ranges::find(writes, "DELETE clusterroles"),
                       "PATCH clusterroles"),
            2)
      << "the shrunk role, and the first of the slow ones";
  EXPECT_THAT(VersionsOf("gone"), IsEmpty());
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
}

TEST_F(TemplatePortionsTest, WithinATemplateRevocationsDoNotWaitForNewRoles) {
  Begin(R"("namespaces": ["foo"])", StrCat("[", RoleOf("less-", kPods), "]"));
  SetRoles(StrCat(SlowRoles(3, kPods), ",", RoleOf("less-", kNothing)));
  cluster_.Settle();
  const std::vector<int64_t> made = VersionsOf("slow"), less = VersionsOf("less");
  ASSERT_THAT(made, SizeIs(3));
  ASSERT_THAT(less, SizeIs(1));
  EXPECT_LT(less[0], *std::ranges::min_element(made));
}

TEST_F(TemplatePortionsTest, RolesThatAreThereAreBoundBeforeTheOthersAre) {
  Begin(R"("namespaces": ["foo"])", StrCat("[", RoleOf("quick-", kPods), "]"));
  DelaySlowRoles();
  SetRoles(SlowRoles(20, kPods));
  ASSERT_TRUE(cluster_.loop().RunUntil([&] { return cluster_.Ours(kBindings).size() > 1; }));
  EXPECT_LT(cluster_.Ours(kRoles).size(), 20u);
  EXPECT_EQ(cluster_.Templated(), "False TemplatingInProgress: ClusterRoles are being written");
  EXPECT_THAT(cluster_.Scoped(),
              AllOf(StartsWith("False WaitingForClusterRoles"), HasSubstr("does not exist yet")));
  cluster_.RunFor(absl::Minutes(10));
  EXPECT_THAT(cluster_.Ours(kBindings), SizeIs(20));
  EXPECT_THAT(cluster_.Templated(), StartsWith("True TemplatingSuccessful"));
  EXPECT_EQ(cluster_.Scoped(), kSuccess);
  EXPECT_GT(cluster_.metrics()
                .Counter("mandate_scope_portions_total", "", {{"identity", "scope-template"}})
                .Value(),
            1);
}

// Neither the first role nor the status may shorten the delay.
TEST_F(TemplatePortionsTest, RetriesAfterTheServersDelay) {
  Begin(R"("namespaces": ["foo"])", StrCat("[", RoleOf("a-", kPods), "]"));
  int tries = 0;
  cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
    if (write == "PATCH scopetemplates/status") return Denial(422);
    if (write != "PATCH clusterroles") return std::nullopt;
    return ++tries % 2 == 1 ? Denial(422) : Denial(429, absl::Seconds(45));
  };
  SetRoles(StrCat(RoleOf("a-", kPods), ",", RoleOf("b-", kPods), ",", RoleOf("c-", kPods)));
  cluster_.RunFor(absl::Seconds(40));
  EXPECT_EQ(tries, 2);
  cluster_.RunFor(absl::Seconds(15));
  EXPECT_EQ(tries, 4);
}

// The role cannot get more rules, and at first it cannot lose rules either.
TEST_F(TemplatePortionsTest, FailedRevocationIsRetriedBeforeAForbiddenGrant) {
  Begin(R"("namespaces": ["foo"])", StrCat("[", RoleOf("a-", kPodsAndSecrets), "]"));
  const absl::Time may_get_less = cluster_.loop().clock().TimeNow() + absl::Seconds(1);
  int tries = 0;
  cluster_.intercept = [&](const std::string& write) -> std::optional<HttpResponse> {
    if (write != "PATCH clusterroles") return std::nullopt;
    if (++tries % 2 == 1) return Denial(403);
    if (cluster_.loop().clock().TimeNow() < may_get_less) return Denial(422);
    return std::nullopt;
  };
  constexpr std::string_view kConfigMaps =
      R"({"apiGroups":[""],"resources":["configmaps"],"verbs":["get"]})";
  SetRoles(RoleOf("a-", StrCat(kPods, ",", kConfigMaps)));
  cluster_.RunFor(absl::Seconds(6));
  const Json::Value rules = cluster_.Our(kRoles)["rules"];
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0]["resources"], ParseJson(R"(["pods"])").value());
}

}  // namespace
}  // namespace mandate::scope
