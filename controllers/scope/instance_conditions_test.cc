// The conditions of a ScopeInstance for a plan.
#include <gtest/gtest.h>

#include "controllers/scope/instance_plan.h"
#include "controllers/scope/testing_snapshot.h"

namespace mandate::scope {
namespace {

TEST(InstanceConditionsTest, ReportsRulesWithoutEffectInANamespace) {
  ScopeTemplate of = DocumentTemplate();
  auto& rule = *of.mutable_spec()->mutable_clusterroles(0)->add_rules();
  rule.add_apigroups("");
  rule.add_resources("nodes");
  rule.add_resources("namespaces");
  rule.add_resources("pods");
  rule.add_verbs("get");
  auto& urls = *of.mutable_spec()->mutable_clusterroles(0)->add_rules();
  urls.add_nonresourceurls("/metrics");
  urls.add_verbs("get");
  const KnownScopes scopes = {{{"", "nodes"}, Scope::kCluster},
                              {{"", "namespaces"}, Scope::kCluster},
                              {{"", "pods"}, Scope::kNamespaced}};
  InstanceSnapshot snapshot = Snapshot(DocumentInstance(R"("namespaces": ["foo"])"), of);
  InstancePlan plan = PlanInstance(snapshot);
  EXPECT_EQ(plan.create.size(), 1u);
  EXPECT_TRUE(plan.effect.unknown) << "until the server was asked";
  plan.effect = EffectInNamespaces(plan.in_namespaces, scopes);
  const auto conditions = InstanceConditions(snapshot.instance, plan, {});
  ASSERT_EQ(conditions.size(), 2u);
  EXPECT_TRUE(conditions[0].status);
  EXPECT_EQ(conditions[1].type, kEffective);
  EXPECT_FALSE(conditions[1].status);
  EXPECT_TRUE(conditions[1].message.ends_with("resources or URLs: /metrics; nodes"))
      << conditions[1].message;

  const InstancePlan in_cluster = PlanInstance(Snapshot(DocumentInstance(""), of));
  EXPECT_TRUE(in_cluster.in_namespaces.empty());
  EXPECT_FALSE(in_cluster.effect.unknown);
}

TEST(InstanceConditionsTest, UnknownScopesKeepTheCondition) {
  InstancePlan plan;
  plan.effect.unknown = true;
  plan.effect.ineffective = {"nodes"};
  ScopeInstance of = DocumentInstance();
  EXPECT_EQ(InstanceConditions(of, plan, {})[1].reason, kRulesWithoutEffect);
  auto& said = *of.mutable_status()->add_conditions();
  said.set_type(kEffective);
  said.set_status("False");
  said.set_reason("R");
  said.set_message("M");
  said.set_observedgeneration(7);
  EXPECT_EQ(InstanceConditions(of, plan, {})[1],
            (DesiredCondition{kEffective, false, "R", "M", 7}));
  plan.effect.ineffective.clear();
  EXPECT_EQ(InstanceConditions(of, plan, {})[1],
            (DesiredCondition{kEffective, false, "R", "M", 7}));
  plan.effect.unknown = false;
  EXPECT_EQ(InstanceConditions(of, plan, {}).size(), 1u) << "known: nothing is without effect";
}

TEST(InstanceConditionsTest, UnfinishedIsNotSuccess) {
  const auto conditions = InstanceConditions(DocumentInstance(), {}, {}, /*unfinished=*/true);
  EXPECT_FALSE(conditions[0].status);
  EXPECT_EQ(conditions[0].reason, kScopingInProgress);
}

TEST(InstanceConditionsTest, FailuresOfWritesFailTheInstance) {
  const auto conditions = InstanceConditions(DocumentInstance(), {}, {"a", "b"});
  EXPECT_EQ(conditions, (std::vector<DesiredCondition>{{kScoped, false, kScopingFailed, "a; b"}}));
  EXPECT_EQ(InstanceConditions(DocumentInstance(), {}, {})[0].message,
            "ScopeInstance \"foo\" reconciled successfully");
}

}  // namespace
}  // namespace mandate::scope
