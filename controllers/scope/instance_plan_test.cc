#include "controllers/scope/instance_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/testing_snapshot.h"

namespace mandate::scope {
namespace {

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

TEST(InstancePlanTest, BindingFollowsTheTemplate) {
  const InstanceSnapshot snapshot = Snapshot(DocumentInstance(R"("namespaces": ["foo"])"));
  const InstancePlan plan = PlanInstance(snapshot);
  ASSERT_EQ(plan.create.size(), 1u);
  const auto b = plan.create[0].Make().object;
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

TEST(InstancePlanTest, OneMoreNamespaceNeedsOneWrite) {
  std::string list;
  InstanceSnapshot snapshot = Snapshot(DocumentInstance(""));
  for (int i = 0; i < 1000; ++i) {
    snapshot.namespaces.push_back(NamespaceObject(StrCat("n", i)));
    StrAppend(&list, i == 0 ? "" : ",", "\"n", i, "\"");
  }
  snapshot.instance = DocumentInstance(StrCat(R"("namespaces": [)", list, "]"));
  snapshot = Bound(std::move(snapshot));
  ASSERT_EQ(snapshot.bindings.size(), 1000u);
  snapshot.instance = DocumentInstance(StrCat(R"("namespaces": [)", list, R"(, "foo"])"));
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_EQ(Where(plan.create), (Strings{"foo"}));
  EXPECT_TRUE(plan.fix.empty() && plan.remove.empty() && plan.replace.empty());
}

TEST(InstancePlanTest, ShrinkingRevokesFirstMovingGrantsFirst) {
  InstanceSnapshot snapshot = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo", "bar"])")));
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

  snapshot = Bound(Snapshot(DocumentInstance("")));
  snapshot.instance = DocumentInstance(R"("namespaces": ["foo"])");
  plan = PlanInstance(snapshot);
  EXPECT_EQ(Where(plan.remove), (Strings{"(cluster)"}));
  EXPECT_TRUE(plan.grant_first);
}

TEST(InstancePlanTest, MissingNamespaceIsReportedOnly) {
  InstanceSnapshot snapshot = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
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

TEST(InstancePlanTest, RemovedLabelRevokesTheBinding) {
  InstanceSnapshot snapshot =
      Bound(Snapshot(DocumentInstance(R"("namespaceSelector": {"fooKey": "barValue"})")));
  ASSERT_EQ(snapshot.bindings.size(), 1u);
  for (auto& ns : snapshot.namespaces) ns.mutable_metadata()->clear_labels();
  EXPECT_EQ(Where(PlanInstance(snapshot).remove), (Strings{"labelled"}));
}

TEST(InstancePlanTest, RevertsEveryEdit) {
  const InstanceSnapshot good = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  std::vector<InstanceSnapshot> edits(4, good);
  edits[0].bindings[0].object.add_subjects()->set_name("eve");
  edits[1].bindings[0].object.mutable_metadata()->clear_ownerreferences();
  edits[2].bindings[0].object.mutable_metadata()->mutable_labels()->erase(
      std::string(kInstanceUidLabel));
  edits[3].bindings[0].object.clear_subjects();
  for (size_t i = 0; i < edits.size(); ++i) {
    const InstancePlan plan = PlanInstance(edits[i]);
    ASSERT_EQ(plan.fix.size(), 1u) << "edit " << i;
    EXPECT_EQ(plan.fix[0].revokes(), i == 0) << "edit " << i;
    EXPECT_EQ(Difference(plan.fix[0].desired, good.bindings[0]), "");
    EXPECT_TRUE(plan.create.empty() && plan.remove.empty() && plan.replace.empty());
    EXPECT_EQ(InstanceConditions(edits[i].instance, plan, {})[0].reason, kScopingSuccessful);
  }
  InstanceSnapshot other_role = good;
  other_role.bindings[0].object.mutable_roleref()->set_name("cluster-admin");
  const InstancePlan plan = PlanInstance(other_role);
  ASSERT_EQ(plan.replace.size(), 1u);
  EXPECT_TRUE(plan.create.empty() && plan.fix.empty() && plan.remove.empty());
  // The binding to the wrong role is deleted even if the right role is absent.
  other_role.cluster_roles.clear();
  EXPECT_EQ(Where(PlanInstance(other_role).remove), (Strings{"foo"}));
}

TEST(InstancePlanTest, BindingsOfOthersAreNotSeen) {
  InstanceSnapshot snapshot = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  Binding other = snapshot.bindings[0];
  other.key = {"bar", BindingName("another-instance", "fooClusterRole-", "bar")};
  other.object.mutable_metadata()->set_name(other.key.name);
  auto& labels = *other.object.mutable_metadata()->mutable_labels();
  labels[std::string(kInstanceUidLabel)] = "another-instance";
  auto& owner = *other.object.mutable_metadata()->mutable_ownerreferences(0);
  owner.set_uid("another-instance");
  owner.set_name("another");
  snapshot.bindings.push_back(other);
  EXPECT_FALSE(Changes(PlanInstance(snapshot)));
  EXPECT_EQ(PlanInstance(snapshot).reason, "");

  // The bindings of a former instance of the same name are revoked.
  snapshot.bindings.back().object.mutable_metadata()->mutable_ownerreferences(0)->set_name("foo");
  EXPECT_EQ(Where(PlanInstance(snapshot).remove), (Strings{"bar"}));
}

TEST(InstancePlanTest, AbsentTemplateRevokesEverything) {
  InstanceSnapshot snapshot = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo", "bar"])")));
  snapshot.scope_template.reset();
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_EQ(Where(plan.remove), (Strings{"bar", "foo"}));
  const auto conditions = InstanceConditions(snapshot.instance, plan, {});
  EXPECT_EQ(conditions[0], (DesiredCondition{kScoped, false, kScopeTemplateNotFound,
                                             "ScopeTemplate \"foo\" not found"}));
}

TEST(InstancePlanTest, AFailedTemplateFailsItsInstancesAndKeepsTheirBindings) {
  InstanceSnapshot snapshot = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo", "bar"])")));
  Fail(snapshot, "no right to escalate");
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_FALSE(Changes(plan));
  EXPECT_EQ(plan.reason, kScopeTemplateFailed);
  EXPECT_EQ(plan.problems, (Strings{"ScopeTemplate \"foo\" failed: no right to escalate"}));

  // A condition for an older generation does not count.
  snapshot.scope_template->mutable_metadata()->set_generation(2);
  EXPECT_EQ(PlanInstance(snapshot).reason, "");
}

// The subjects are in each binding: a thousand of them in ten thousand bindings fill the memory of
// the manager and of the API server.
TEST(InstancePlanTest, SubjectsOfMoreBytesThanTheBoundAreNotGranted) {
  const InstanceSnapshot snapshot =
      Snapshot(DocumentInstance(R"("namespaces": ["bar", "default"])"),
               TemplateFor({"ann", std::string(1000, 'x')}));
  EXPECT_EQ(PlanInstance(snapshot, {.max_subject_bytes = 2200}).create.size(), 2u);
  const InstancePlan plan = PlanInstance(snapshot, {.max_subject_bytes = 2000});
  EXPECT_TRUE(plan.exceeds_limit);
  EXPECT_TRUE(plan.create.empty());
  EXPECT_EQ(plan.reason, kScopingFailed);
  EXPECT_EQ(plan.problems[0].find("the subjects of all bindings (1 ClusterRoles in 2 namespaces) "
                                  "have 2148 bytes, but the limit of a ScopeInstance is 2000;"),
            0u)
      << plan.problems[0];
}

TEST(InstancePlanTest, NewBindingsOfARoleShareTheirObject) {
  const InstancePlan plan =
      PlanInstance(Snapshot(DocumentInstance(R"("namespaces": ["bar", "default"])")));
  ASSERT_EQ(plan.create.size(), 2u);
  EXPECT_EQ(plan.create[0].common, plan.create[1].common);
}

// A role that is not wanted and cannot be deleted does not stop the others.
TEST(InstancePlanTest, PendingRevocationOfTheTemplateIsReportedOnly) {
  InstanceSnapshot snapshot = Snapshot(DocumentInstance(R"("namespaces": ["foo"])"));
  Fail(snapshot, "deleting ClusterRole x: forbidden", kRevocationPending);
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_EQ(Where(plan.create), (Strings{"foo"}));
  EXPECT_EQ(plan.reason, kRevocationPending);
  EXPECT_EQ(plan.pending, (Strings{"ScopeTemplate \"foo\": deleting ClusterRole x: forbidden"}));
  snapshot.instance =
      DocumentInstance(R"("namespaces": ["foo"], "namespaceSelector": {"fooKey": 5})");
  EXPECT_EQ(Where(PlanInstance(snapshot).create), Strings{}) << "nor makes a selector valid";
}

TEST(InstancePlanTest, BindingsBeyondTheLimitAreNotCreated) {
  InstanceSnapshot snapshot = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  snapshot.instance = DocumentInstance(R"("namespaces": ["bar", "default", "labelled"])");
  EXPECT_EQ(PlanInstance(snapshot, {.max_bindings = 3}).create.size(), 3u);
  const InstancePlan plan = PlanInstance(snapshot, {.max_bindings = 2});
  EXPECT_TRUE(plan.exceeds_limit);
  EXPECT_TRUE(plan.create.empty());
  EXPECT_EQ(Where(plan.remove), (Strings{"foo"}));
  EXPECT_EQ(plan.reason, kScopingFailed);
  EXPECT_EQ(plan.problems[0].find("the ScopeInstance needs 3 bindings (1 ClusterRoles in 3 "
                                  "namespaces), but the limit is 2;"),
            0u);
  // Existing bindings stay, although they exceed the limit.
  snapshot = Bound(Snapshot(DocumentInstance(R"("namespaces": ["bar", "default", "labelled"])")));
  EXPECT_FALSE(Changes(PlanInstance(snapshot, {.max_bindings = 2})));
}

// Each absent namespace has one message and no binding, whatever the number of roles.
TEST(InstancePlanTest, AbsentNamespacesAreNotMultipliedByRoles) {
  ScopeTemplate of = DocumentTemplate();
  const auto role = of.spec().clusterroles(0);
  for (int i = 1; i < 100; ++i) {
    *of.mutable_spec()->add_clusterroles() = role;
    of.mutable_spec()->mutable_clusterroles(i)->set_generatename(StrCat("r", i, "-"));
  }
  std::string list;
  for (int i = 0; i < 10'000; ++i) StrAppend(&list, i == 0 ? "" : ",", "\"n", i, "\"");
  const InstancePlan plan =
      PlanInstance(Snapshot(DocumentInstance(StrCat(R"("namespaces": [)", list, "]")), of));
  EXPECT_FALSE(Changes(plan));
  EXPECT_EQ(plan.reason, kScopingFailed);
  EXPECT_LT(plan.problems.size(), 10u);
}

TEST(InstancePlanTest, AnInvalidTemplateFailsItsInstancesAtOnce) {
  InstanceSnapshot snapshot = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  snapshot.scope_template->mutable_spec()->mutable_clusterroles(0)->add_rules();
  const InstancePlan plan = PlanInstance(snapshot);
  EXPECT_FALSE(Changes(plan));
  EXPECT_EQ(plan.reason, kScopeTemplateFailed);
  EXPECT_NE(plan.problems[0].find("].verbs: at least one verb is required"), std::string::npos);
}

// An invalid template grants nothing new. Subjects and roles without a valid entry in it are
// revoked.
TEST(InstancePlanTest, AnInvalidTemplateRevokes) {
  const InstanceSnapshot bound = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  InstanceSnapshot snapshot = bound;
  const auto subjects = [&snapshot] {
    return snapshot.scope_template->mutable_spec()
        ->mutable_clusterroles(0)
        ->mutable_bindingtemplate()
        ->mutable_subjects();
  };
  rbacv1::Subject& eve = *subjects()->Add();
  eve.set_kind("User");
  eve.set_name("eve");
  subjects()->Add()->set_kind("Robot");
  EXPECT_FALSE(Changes(PlanInstance(snapshot))) << "eve is new";
  subjects()->DeleteSubrange(0, 1);
  InstancePlan plan = PlanInstance(snapshot);
  ASSERT_EQ(plan.fix.size(), 1u) << "only eve is validly named";
  EXPECT_TRUE(plan.fix[0].desired.object.subjects().empty());
  subjects()->Clear();
  EXPECT_EQ(PlanInstance(snapshot).remove.size(), 1u) << "nobody is named";
  snapshot = bound;
  snapshot.scope_template->mutable_spec()->mutable_clusterroles(0)->clear_generatename();
  EXPECT_EQ(PlanInstance(snapshot).remove.size(), 1u) << "no role is named";
}

// The bindings of an instance to its former template's roles are revoked, because that template
// does not create a role again while unwanted bindings refer to it.
TEST(InstancePlanTest, AnUnreadTemplateLeavesOnlyBindingsToItsOwnRoles) {
  InstanceSnapshot snapshot = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  snapshot.template_read_error = absl::PermissionDeniedError("forbidden");
  EXPECT_FALSE(Changes(PlanInstance(snapshot)));
  auto& role = snapshot.cluster_roles.begin()->second;
  role.mutable_metadata()->mutable_ownerreferences(0)->set_uid("another-template");
  EXPECT_EQ(PlanInstance(snapshot).remove.size(), 1u);
  snapshot.cluster_roles.clear();
  EXPECT_EQ(PlanInstance(snapshot).remove.size(), 1u);
}

// Only the template's own role with the template's own rules is bound.
TEST(InstancePlanTest, OnlyTheTemplatesRolesAreBound) {
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
    EXPECT_EQ(InstanceConditions(rows[i].instance, plan, {})[0].in_progress, i != 1)
        << "a foreign role stays foreign";
    EXPECT_FALSE(InstanceConditions(rows[i].instance, plan, {"a write failed"})[0].in_progress);
    EXPECT_NE(plan.problems[0].find(name), std::string::npos);
  }
  // Existing bindings stay.
  InstanceSnapshot bound = Bound(good);
  bound.cluster_roles.clear();
  EXPECT_FALSE(Changes(PlanInstance(bound)));
}

TEST(InstancePlanTest, InvalidSelectorKeepsBindings) {
  const InstanceSnapshot before = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  for (const std::string_view selector :
       {R"({"matchExpressions": [{"key": "a", "operator": "Near"}]})", R"({"a": 5})", R"(["a"])",
        R"({"bad key": "x"})", R"({"matchExpressions": [{"key": "a", "operator": "In"}]})"}) {
    InstanceSnapshot snapshot = before;
    snapshot.instance = DocumentInstance(StrCat(R"("namespaceSelector": )", selector));
    const InstancePlan plan = PlanInstance(snapshot);
    EXPECT_FALSE(Changes(plan)) << selector;
    ASSERT_EQ(plan.problems.size(), 1u);
    EXPECT_EQ(plan.reason, kScopingFailed);
    EXPECT_EQ(plan.problems[0].find("spec.namespaceSelector"), 0u) << plan.problems[0];
  }
}

TEST(InstancePlanTest, AnotherTemplateMeansOtherBindings) {
  InstanceSnapshot snapshot = Bound(Snapshot(DocumentInstance(R"("namespaces": ["foo"])")));
  ScopeTemplate other = DocumentTemplate();
  other.mutable_metadata()->set_name("other");
  other.mutable_metadata()->set_uid("other-uid");
  other.mutable_spec()->mutable_clusterroles(0)->set_generatename("other");
  InstanceSnapshot retargeted = Snapshot(DocumentInstance(R"("namespaces": ["foo"])"), other);
  retargeted.bindings = snapshot.bindings;
  const InstancePlan plan = PlanInstance(retargeted);
  EXPECT_EQ(plan.create.size(), 1u);
  EXPECT_EQ(plan.remove.size(), 1u);
  EXPECT_TRUE(plan.grant_first) << "one role takes the place of another, as when a role is renamed";
}

}  // namespace
}  // namespace mandate::scope
