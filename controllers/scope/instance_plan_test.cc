#include "controllers/scope/instance_plan.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/testing_objects.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;

// A cluster in which the template's roles are as they should be.
InstanceSnapshot Snapshot(ScopeInstance instance, ScopeTemplate of = DocumentTemplate()) {
  InstanceSnapshot snapshot;
  snapshot.instance = std::move(instance);
  for (const auto& role : PlanTemplate({of, true, {}}).create) {
    snapshot.cluster_roles[role.metadata().name()] = role;
  }
  snapshot.scope_template = std::move(of);
  snapshot.namespaces = {NamespaceObject("foo"), NamespaceObject("bar"),
                         NamespaceObject("labelled", "fooKey"), NamespaceObject("default")};
  return snapshot;
}

// The snapshot after its plan was carried out.
InstanceSnapshot After(InstanceSnapshot snapshot) {
  const InstancePlan plan = PlanInstance(snapshot);
  const auto gone = [&](const Binding& b) {
    const auto is = [&](const Binding& other) { return other.key == b.key; };
    return std::any_of(plan.remove.begin(), plan.remove.end(), is) ||
           std::any_of(plan.mend.begin(), plan.mend.end(), is) ||
           std::any_of(plan.replace.begin(), plan.replace.end(),
                       [&](const auto& pair) { return is(pair.first); });
  };
  std::erase_if(snapshot.bindings, gone);
  const auto add = [&](Binding b) {
    b.object.mutable_metadata()->set_uid("uid-of-" + b.key.ToString());
    snapshot.bindings.push_back(std::move(b));
  };
  for (const Binding& b : plan.create) add(b);
  for (const Binding& b : plan.mend) add(b);
  for (const auto& pair : plan.replace) add(pair.second);
  return snapshot;
}

std::vector<std::string> Where(const std::vector<Binding>& bindings) {
  std::vector<std::string> result;
  for (const Binding& b : bindings) result.push_back(b.in_cluster() ? "(cluster)" : b.key.ns);
  std::sort(result.begin(), result.end());
  return result;
}

using Strings = std::vector<std::string>;

bool Changes(const InstancePlan& plan) {
  return !plan.create.empty() || !plan.mend.empty() || !plan.replace.empty() ||
         !plan.remove.empty();
}

TEST(InstancePlanTest, WhereTheBindingsGo) {
  struct Row {
    std::string_view name;
    std::string_view spec;
    Strings where;
  };
  const Row rows[] = {
      {"nothing given", "", {"(cluster)"}},
      {"empty list", R"("namespaces": [])", {"(cluster)"}},
      {"two", R"("namespaces": ["foo", "bar"])", {"bar", "foo"}},
      {"doubled", R"("namespaces": ["foo", "foo"])", {"foo"}},
      {"the document's map", R"("namespaceSelector": {"fooKey": "barValue"})", {"labelled"}},
      {"matchLabels",
       R"("namespaceSelector": {"matchLabels": {"fooKey": "barValue"}})",
       {"labelled"}},
      {"matchExpressions",
       R"("namespaceSelector": {"matchExpressions": [{"key": "fooKey", "operator": "Exists"}]})",
       {"labelled"}},
      {"both",
       R"("namespaces": ["foo"], "namespaceSelector": {"fooKey": "barValue"})",
       {"foo", "labelled"}},
      {"a selector that matches nothing is not the cluster",
       R"("namespaces": [], "namespaceSelector": {"fooKey": "other"})",
       {}},
      {"an empty selector is every namespace",
       R"("namespaceSelector": {})",
       {"bar", "default", "foo", "labelled"}},
      {"null is none", R"("namespaceSelector": null)", {"(cluster)"}},
  };
  for (const Row& row : rows) {
    const InstancePlan plan = PlanInstance(Snapshot(DocumentInstance(row.spec)));
    EXPECT_EQ(Where(plan.create), row.where) << row.name;
    EXPECT_TRUE(plan.problems.empty()) << row.name << ": " << plan.problems[0];
  }
}

TEST(InstancePlanTest, ABindingIsWhatTheTemplateSays) {
  const InstanceSnapshot snapshot = Snapshot(DocumentInstance(R"("namespaces": ["foo"])"));
  const InstancePlan plan = PlanInstance(snapshot);
  ASSERT_EQ(plan.create.size(), 1u);
  const auto& b = plan.create[0].object;
  EXPECT_TRUE(b.metadata().name().starts_with("fooClusterRole-"));
  EXPECT_EQ(b.metadata().namespace_(), "foo");
  EXPECT_EQ(b.roleref().kind(), "ClusterRole");
  EXPECT_EQ(b.roleref().name(), ClusterRoleName("template-uid", "fooClusterRole-"));
  ASSERT_EQ(b.subjects_size(), 1);
  EXPECT_EQ(b.subjects(0).name(), "foo-service-account");
  EXPECT_EQ(b.subjects(0).namespace_(), "operators");
  ASSERT_EQ(b.metadata().ownerreferences_size(), 1);
  EXPECT_EQ(b.metadata().ownerreferences(0).kind(), "ScopeInstance");
  EXPECT_TRUE(b.metadata().ownerreferences(0).controller());
  EXPECT_EQ(b.metadata().labels().at(std::string(kInstanceUidLabel)), "instance-uid");
}

TEST(InstancePlanTest, ConvergedIsSilent) {
  for (const std::string_view spec :
       {"", R"("namespaces": ["foo", "bar"])", R"("namespaceSelector": {"fooKey": "barValue"})"}) {
    EXPECT_FALSE(Changes(PlanInstance(After(Snapshot(DocumentInstance(spec)))))) << spec;
  }
}

TEST(InstancePlanTest, OneMoreNamespaceIsOneMoreWrite) {
  std::string list;
  InstanceSnapshot snapshot = Snapshot(DocumentInstance(""));
  for (int i = 0; i < 1000; ++i) {
    snapshot.namespaces.push_back(NamespaceObject(StrCat("n", i)));
    StrAppend(&list, i == 0 ? "" : ",", "\"n", i, "\"");
  }
  snapshot.instance = DocumentInstance(StrCat(R"("namespaces": [)", list, "]"));
  snapshot = After(std::move(snapshot));
  ASSERT_EQ(snapshot.bindings.size(), 1000u);
  snapshot.instance = DocumentInstance(StrCat(R"("namespaces": [)", list, R"(, "foo"])"));
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_EQ(Where(plan.create), (Strings{"foo"}));
  EXPECT_TRUE(plan.mend.empty() && plan.remove.empty() && plan.replace.empty());
}

TEST(InstancePlanTest, ShrinkingRevokesFirstMovingGrantsFirst) {
  InstanceSnapshot snapshot = After(Snapshot(DocumentInstance(R"("namespaces": ["foo", "bar"])")));
  snapshot.instance = DocumentInstance(R"("namespaces": ["bar", "default"])");
  InstancePlan plan = PlanInstance(snapshot);
  EXPECT_EQ(Where(plan.remove), (Strings{"foo"}));
  EXPECT_EQ(Where(plan.create), (Strings{"default"}));
  EXPECT_FALSE(plan.grant_first);

  snapshot.instance = DocumentInstance("");
  plan = PlanInstance(snapshot);
  EXPECT_EQ(Where(plan.create), (Strings{"(cluster)"}));
  EXPECT_EQ(Where(plan.remove), (Strings{"bar", "foo"}));
  EXPECT_TRUE(plan.grant_first);

  snapshot = After(snapshot);
  snapshot.instance = DocumentInstance(R"("namespaces": ["foo"])");
  plan = PlanInstance(snapshot);
  EXPECT_EQ(Where(plan.remove), (Strings{"(cluster)"}));
  EXPECT_TRUE(plan.grant_first);
}

TEST(InstancePlanTest, AMissingNamespaceIsReportedAndStopsNothing) {
  InstanceSnapshot snapshot = After(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  snapshot.instance = DocumentInstance(R"("namespaces": ["nowhere", "bar", "dying"])");
  snapshot.namespaces.push_back(FromJsonOrDie<corev1::Namespace>(
      R"({"metadata": {"name": "dying"}, "status": {"phase": "Terminating"}})"));
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_EQ(Where(plan.create), (Strings{"bar"}));
  EXPECT_EQ(Where(plan.remove), (Strings{"foo"}));
  EXPECT_EQ(plan.problems,
            (Strings{"namespace \"nowhere\" not found", "namespace \"dying\" is being deleted"}));
  const auto conditions = InstanceConditions(snapshot.instance, plan, {});
  EXPECT_EQ(conditions[0].reason, kScopingFailed);
}

TEST(InstancePlanTest, ALabelThatGoesTakesTheBindingAlong) {
  InstanceSnapshot snapshot =
      After(Snapshot(DocumentInstance(R"("namespaceSelector": {"fooKey": "barValue"})")));
  ASSERT_EQ(snapshot.bindings.size(), 1u);
  for (auto& ns : snapshot.namespaces) ns.mutable_metadata()->clear_labels();
  EXPECT_EQ(Where(PlanInstance(snapshot).remove), (Strings{"labelled"}));
}

TEST(InstancePlanTest, EveryEditIsMended) {
  const InstanceSnapshot good = After(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  std::vector<InstanceSnapshot> edits(4, good);
  edits[0].bindings[0].object.add_subjects()->set_name("eve");
  edits[1].bindings[0].object.mutable_metadata()->clear_ownerreferences();
  edits[2].bindings[0].object.mutable_metadata()->mutable_labels()->erase(
      std::string(kInstanceUidLabel));
  edits[3].bindings[0].object.clear_subjects();
  for (size_t i = 0; i < edits.size(); ++i) {
    const InstancePlan plan = PlanInstance(edits[i]);
    ASSERT_EQ(plan.mend.size(), 1u) << "edit " << i;
    EXPECT_EQ(plan.mend[0].object.metadata().uid(), good.bindings[0].object.metadata().uid());
    EXPECT_TRUE(plan.create.empty() && plan.remove.empty() && plan.replace.empty());
    EXPECT_FALSE(Changes(PlanInstance(After(edits[i]))));
  }
  InstanceSnapshot other_role = good;
  other_role.bindings[0].object.mutable_roleref()->set_name("cluster-admin");
  const InstancePlan plan = PlanInstance(other_role);
  ASSERT_EQ(plan.replace.size(), 1u);
  EXPECT_TRUE(plan.create.empty() && plan.mend.empty() && plan.remove.empty());
}

TEST(InstancePlanTest, BindingsOfOthersAreNotSeen) {
  InstanceSnapshot snapshot = After(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  Binding other = snapshot.bindings[0];
  other.key = {"bar", "somebody's"};
  other.object.mutable_metadata()->set_name("somebody's");
  other.object.mutable_metadata()->mutable_ownerreferences(0)->set_uid("another-instance");
  other.object.mutable_metadata()->mutable_ownerreferences(0)->set_name("another");
  snapshot.bindings.push_back(other);
  EXPECT_FALSE(Changes(PlanInstance(snapshot)));

  // But what a former instance of the same name left is taken away.
  snapshot.bindings.back().object.mutable_metadata()->mutable_ownerreferences(0)->set_name("foo");
  EXPECT_EQ(Where(PlanInstance(snapshot).remove), (Strings{"bar"}));
}

TEST(InstancePlanTest, WithoutItsTemplateEverythingIsRevoked) {
  InstanceSnapshot snapshot = After(Snapshot(DocumentInstance(R"("namespaces": ["foo", "bar"])")));
  snapshot.scope_template.reset();
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_EQ(Where(plan.remove), (Strings{"bar", "foo"}));
  const auto conditions = InstanceConditions(snapshot.instance, plan, {});
  EXPECT_EQ(conditions[0], (DesiredCondition{kScoped, false, kScopeTemplateNotFound,
                                             "ScopeTemplate \"foo\" not found"}));
}

TEST(InstancePlanTest, AFailedTemplateFailsItsInstancesAndKeepsTheirBindings) {
  InstanceSnapshot snapshot = After(Snapshot(DocumentInstance(R"("namespaces": ["foo", "bar"])")));
  auto& status = *snapshot.scope_template->mutable_status()->add_conditions();
  status.set_type(kTemplated);
  status.set_status("False");
  status.set_message("no right to escalate");
  status.set_observedgeneration(1);
  InstancePlan plan = PlanInstance(snapshot);
  EXPECT_FALSE(Changes(plan));
  EXPECT_EQ(plan.reason, kScopeTemplateFailed);
  EXPECT_EQ(plan.problems, (Strings{"ScopeTemplate \"foo\" failed: no right to escalate"}));

  // What leaves the scope is revoked all the same.
  snapshot.instance = DocumentInstance(R"("namespaces": ["foo"])");
  plan = PlanInstance(snapshot);
  EXPECT_EQ(Where(plan.remove), (Strings{"bar"}));
  EXPECT_TRUE(plan.create.empty());

  // A verdict on an older generation is no verdict.
  snapshot.scope_template->mutable_metadata()->set_generation(2);
  EXPECT_EQ(PlanInstance(snapshot).reason, "");
}

TEST(InstancePlanTest, AnInvalidTemplateFailsItsInstancesAtOnce) {
  InstanceSnapshot snapshot = After(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  snapshot.scope_template->mutable_spec()->mutable_clusterroles(0)->clear_generatename();
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_FALSE(Changes(plan));
  EXPECT_EQ(plan.reason, kScopeTemplateFailed);
  EXPECT_NE(plan.problems[0].find("spec.clusterRoles[0].generateName: required"),
            std::string::npos);
}

// Only the template's own role, with the template's own rules, is ever bound.
TEST(InstancePlanTest, NothingElseIsBound) {
  const std::string name = ClusterRoleName("template-uid", "fooClusterRole-");
  const InstanceSnapshot good = Snapshot(DocumentInstance(R"("namespaces": ["foo"])"));
  std::vector<InstanceSnapshot> rows(4, good);
  rows[0].cluster_roles.clear();
  rows[1].cluster_roles[name].mutable_metadata()->clear_ownerreferences();
  rows[1].cluster_roles[name].mutable_metadata()->clear_labels();
  rows[2].cluster_roles[name].mutable_rules(0)->add_verbs("escalate");
  rows[3].cluster_roles[name].mutable_aggregationrule();
  for (size_t i = 0; i < rows.size(); ++i) {
    const InstancePlan plan = PlanInstance(rows[i]);
    EXPECT_FALSE(Changes(plan)) << "row " << i;
    EXPECT_EQ(plan.reason, kWaitingForClusterRoles);
    EXPECT_NE(plan.problems[0].find(name), std::string::npos);
  }
  // What is bound already stays bound.
  InstanceSnapshot bound = After(good);
  bound.cluster_roles.clear();
  EXPECT_FALSE(Changes(PlanInstance(bound)));
}

TEST(InstancePlanTest, ABadSelectorChangesNothingAndNamesTheField) {
  const InstanceSnapshot before = After(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  for (const std::string_view selector :
       {R"({"matchExpressions": [{"key": "a", "operator": "Near"}]})", R"({"a": 5})", R"(["a"])",
        R"({"bad key": "x"})", R"({"matchExpressions": [{"key": "a", "operator": "In"}]})"}) {
    InstanceSnapshot snapshot = before;
    snapshot.instance = DocumentInstance(StrCat(R"("namespaceSelector": )", selector));
    const InstancePlan plan = PlanInstance(snapshot);
    EXPECT_FALSE(Changes(plan)) << selector;
    ASSERT_EQ(plan.problems.size(), 1u);
    EXPECT_EQ(plan.problems[0].find("spec.namespaceSelector"), 0u) << plan.problems[0];
  }
}

TEST(InstancePlanTest, AnotherTemplateMeansOtherBindings) {
  InstanceSnapshot snapshot = After(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  ScopeTemplate other = DocumentTemplate();
  other.mutable_metadata()->set_name("other");
  other.mutable_metadata()->set_uid("other-uid");
  other.mutable_spec()->mutable_clusterroles(0)->set_generatename("other");
  InstanceSnapshot retargeted = Snapshot(DocumentInstance(R"("namespaces": ["foo"])"), other);
  retargeted.bindings = snapshot.bindings;
  const InstancePlan plan = PlanInstance(retargeted);
  EXPECT_EQ(plan.create.size(), 1u);
  EXPECT_EQ(plan.remove.size(), 1u);
}

TEST(InstancePlanTest, RulesThatMeanNothingInANamespaceAreSaid) {
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
  const ScopeOfResource scopes = [](std::string_view group, std::string_view resource) {
    using Answer = absl::StatusOr<Scope>;
    if (!group.empty()) return Answer(absl::NotFoundError("not served"));
    return Answer(resource == "nodes" || resource == "namespaces" ? Scope::kCluster
                                                                  : Scope::kNamespaced);
  };
  InstanceSnapshot snapshot = Snapshot(DocumentInstance(R"("namespaces": ["foo"])"), of);
  snapshot.scope_of_resource = scopes;
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_EQ(plan.create.size(), 1u);
  EXPECT_TRUE(plan.without_effect.ends_with("whole cluster: /metrics; nodes"))
      << plan.without_effect;
  const auto conditions = InstanceConditions(snapshot.instance, plan, {});
  ASSERT_EQ(conditions.size(), 2u);
  EXPECT_TRUE(conditions[0].status);
  EXPECT_EQ(conditions[1].type, kEffective);
  EXPECT_FALSE(conditions[1].status);

  InstanceSnapshot in_cluster = Snapshot(DocumentInstance(""), of);
  in_cluster.scope_of_resource = scopes;
  EXPECT_EQ(PlanInstance(in_cluster).without_effect, "");
}

TEST(InstanceConditionsTest, WhatIsNotKnownNowStaysAsItWas) {
  InstancePlan plan;
  plan.effect_unknown = true;
  plan.without_effect = "as far as is known now";
  ScopeInstance of = DocumentInstance();
  EXPECT_EQ(InstanceConditions(of, plan, {})[1],
            (DesiredCondition{kEffective, false, kRulesWithoutEffect, "as far as is known now"}));
  auto& said = *of.mutable_status()->add_conditions();
  said.set_type(kEffective);
  said.set_status("False");
  said.set_reason("R");
  said.set_message("M");
  said.set_observedgeneration(7);
  EXPECT_EQ(InstanceConditions(of, plan, {})[1],
            (DesiredCondition{kEffective, false, "R", "M", 7}));
  plan.without_effect.clear();
  EXPECT_EQ(InstanceConditions(of, plan, {})[1],
            (DesiredCondition{kEffective, false, "R", "M", 7}));
  plan.effect_unknown = false;
  EXPECT_EQ(InstanceConditions(of, plan, {}).size(), 1u) << "known: nothing is without effect";
}

TEST(InstanceConditionsTest, FailuresOfWritesFailTheInstance) {
  const auto conditions = InstanceConditions(DocumentInstance(), {}, {"a", "b"});
  EXPECT_EQ(conditions, (std::vector<DesiredCondition>{{kScoped, false, kScopingFailed, "a; b"}}));
  EXPECT_EQ(InstanceConditions(DocumentInstance(), {}, {})[0].message,
            "ScopeInstance \"foo\" reconciled successfully");
}

}  // namespace
}  // namespace mandate::scope
