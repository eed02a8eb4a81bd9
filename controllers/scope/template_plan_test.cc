#include "controllers/scope/template_plan.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "controllers/scope/cluster_role.h"
#include "controllers/scope/generated_names.h"
#include "controllers/scope/role_template.h"
#include "controllers/scope/testing_objects.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeTemplate;

// Roles as the plan creates them. Other tests use a server (reconcilers_test.cc).
std::vector<rbacv1::ClusterRole> Created(const TemplatePlan& plan) {
  std::vector<rbacv1::ClusterRole> roles = plan.create;
  for (auto& role : roles) role.mutable_metadata()->set_uid("uid-of-" + role.metadata().name());
  return roles;
}

using Names = std::vector<std::string>;

Names NamesOf(const std::vector<rbacv1::ClusterRole>& roles) {
  Names names;
  for (const auto& role : roles) names.push_back(role.metadata().name());
  return names;
}

bool Changes(const TemplatePlan& plan) {
  return !plan.create.empty() || !plan.fix.empty() || !plan.remove.empty();
}

ScopeTemplate Template(std::string_view cluster_roles) {
  return FromJsonOrDie<ScopeTemplate>(
      StrCat(R"({"metadata": {"name": "t", "uid": "template-uid", "generation": 3},
                 "spec": {"clusterRoles": )",
             cluster_roles, "}}"));
}

constexpr std::string_view kReader = R"({"generateName": "reader",
    "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
    "subjects": [{"kind": "Group", "name": "manager"}]})";
constexpr std::string_view kWriter = R"({"generateName": "writer",
    "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["create"]}],
    "subjects": [{"kind": "User", "name": "ann"}]})";

std::string NameOf(std::string_view generate_name) {
  return ClusterRoleName("template-uid", generate_name);
}

std::string List(std::string_view a, std::string_view b) { return StrCat("[", a, ",", b, "]"); }

TEST(TemplatePlanTest, WithoutAnInstanceNoRoleIsMade) {
  const TemplatePlan plan = PlanTemplate({DocumentTemplate(), Referenced::kNo, {}});
  EXPECT_FALSE(Changes(plan));
  EXPECT_TRUE(plan.problems.empty());
}

TEST(TemplatePlanTest, AReferencedTemplateGetsItsRoles) {
  const TemplatePlan plan = PlanTemplate({DocumentTemplate(), Referenced::kYes, {}});
  ASSERT_EQ(plan.create.size(), 1u);
  const auto& role = plan.create[0];
  EXPECT_EQ(role.metadata().name(), ClusterRoleName("template-uid", "fooClusterRole-"));
  EXPECT_EQ(role.metadata().labels().at(std::string(kTemplateUidLabel)), "template-uid");
  ASSERT_EQ(role.metadata().ownerreferences_size(), 1);
  const auto& owner = role.metadata().ownerreferences(0);
  EXPECT_EQ(owner.apiversion(), "operators.coreos.com/v1alpha1");
  EXPECT_EQ(owner.kind(), "ScopeTemplate");
  EXPECT_EQ(owner.name(), "foo");
  EXPECT_TRUE(owner.controller());
  EXPECT_TRUE(owner.blockownerdeletion());
  ASSERT_EQ(role.rules_size(), 1);
  EXPECT_EQ(role.rules(0).verbs_size(), 7);
}

TEST(TemplatePlanTest, TheLastReferenceTakesTheRolesAlong) {
  const ScopeTemplate of = Template(List(kReader, kWriter));
  const auto roles = Created(PlanTemplate({of, Referenced::kYes, {}}));
  const TemplatePlan plan = PlanTemplate({of, Referenced::kNo, roles});
  EXPECT_TRUE(plan.create.empty() && plan.fix.empty());
  EXPECT_EQ(NamesOf(plan.remove), (Names{NameOf("reader"), NameOf("writer")}));
}

TEST(TemplatePlanTest, RemovedRoleIsDeleted) {
  const auto roles =
      Created(PlanTemplate({Template(List(kReader, kWriter)), Referenced::kYes, {}}));
  const TemplatePlan plan =
      PlanTemplate({Template(StrCat("[", kReader, "]")), Referenced::kYes, roles});
  EXPECT_TRUE(plan.create.empty() && plan.fix.empty());
  EXPECT_EQ(NamesOf(plan.remove), Names{NameOf("writer")});
}

// The old operator stopped at the first role that needed no change.
TEST(TemplatePlanTest, ChecksEveryRole) {
  const ScopeTemplate of = Template(List(kReader, kWriter));
  auto roles = Created(PlanTemplate({of, Referenced::kYes, {}}));
  roles.pop_back();
  const TemplatePlan plan = PlanTemplate({of, Referenced::kYes, roles});
  ASSERT_EQ(plan.create.size(), 1u);
  EXPECT_EQ(plan.create[0].metadata().name(), NameOf("writer"));
}

// A role with a generated name, and an edit of it.
TEST(TemplatePlanTest, RevertsEveryEdit) {
  const ScopeTemplate of = DocumentTemplate();
  const rbacv1::ClusterRole good = Created(PlanTemplate({of, Referenced::kYes, {}}))[0];
  const struct {
    const char* difference;
    std::function<void(rbacv1::ClusterRole&)> edit;
  } rows[] = {
      {"rules", [](auto& role) { role.mutable_rules(0)->add_verbs("escalate"); }},
      {"rules", [](auto& role) { role.clear_rules(); }},
      {"aggregationRule", [](auto& role) { role.mutable_aggregationrule(); }},
      {"owner reference", [](auto& role) { role.mutable_metadata()->clear_ownerreferences(); }},
      {"label operators.coreos.io/scopeTemplateUID",
       [](auto& role) {
         role.mutable_metadata()->mutable_labels()->erase(std::string(kTemplateUidLabel));
       }},
      {"label rbac.authorization.k8s.io/aggregate-to-view",
       [](auto& role) {
         (*role.mutable_metadata()
               ->mutable_labels())["rbac.authorization.k8s.io/aggregate-to-view"] = "true";
       }},
  };
  for (const auto& row : rows) {
    rbacv1::ClusterRole edited = good;
    row.edit(edited);
    for (const Referenced referenced : {Referenced::kYes, Referenced::kMaybe}) {
      const TemplatePlan plan = PlanTemplate({of, referenced, {edited}});
      ASSERT_EQ(plan.fix.size(), 1u) << row.difference;
      EXPECT_EQ(plan.fix[0].actual.metadata().uid(), good.metadata().uid());
      EXPECT_EQ(Difference(plan.fix[0].desired, plan.fix[0].actual), row.difference);
      EXPECT_EQ(Difference(plan.fix[0].desired, good), "");
      EXPECT_TRUE(plan.create.empty() && plan.remove.empty() && plan.problems.empty());
    }
  }
}

TEST(TemplatePlanTest, AnEmptiedTemplateEmptiesItsRole) {
  ScopeTemplate of = DocumentTemplate();
  const auto roles = Created(PlanTemplate({of, Referenced::kYes, {}}));
  of.mutable_spec()->mutable_clusterroles(0)->clear_rules();
  const TemplatePlan plan = PlanTemplate({of, Referenced::kYes, roles});
  ASSERT_EQ(plan.fix.size(), 1u);
  EXPECT_TRUE(plan.fix[0].desired.rules().empty());
}

// An instance that cannot be read may reference the template.
TEST(TemplatePlanTest, UnknownReferenceKeepsRoles) {
  const ScopeTemplate of = DocumentTemplate();
  EXPECT_FALSE(Changes(PlanTemplate({of, Referenced::kMaybe, {}}))) << "nothing is made";
  const auto roles = Created(PlanTemplate({of, Referenced::kYes, {}}));
  EXPECT_FALSE(Changes(PlanTemplate({of, Referenced::kMaybe, roles}))) << "nothing is deleted";
  // A role that left the template is unwanted, although instances still reference the template.
  ScopeTemplate without = of;
  without.mutable_spec()->clear_clusterroles();
  EXPECT_EQ(PlanTemplate({without, Referenced::kMaybe, roles}).remove.size(), 1u);
}

// The role's name is a function of the template's UID. If the role were created again, it would
// revive bindings that could not be revoked.
TEST(TemplatePlanTest, RoleIsNotCreatedWhileFormerBindingsExist) {
  const ScopeTemplate of = DocumentTemplate();
  const std::string name = ClusterRoleName("template-uid", "fooClusterRole-");
  const TemplatePlan plan =
      PlanTemplate({of, Referenced::kYes, {}, {{name, {{"RoleBinding team-a/op-x"}}}}});
  EXPECT_FALSE(Changes(plan));
  ASSERT_EQ(plan.problems.size(), 1u);
  EXPECT_NE(plan.problems[0].find("RoleBinding team-a/op-x; delete them"), std::string::npos)
      << plan.problems[0];
  EXPECT_EQ(TemplateConditions(of, plan, {}, {})[0].reason, kTemplatingFailed);
  EXPECT_TRUE(Changes(PlanTemplate({of, Referenced::kYes, {}, {{name, {}}}})));
}

TEST(TemplatePlanTest, ARoleGetsNoNewRulesWhileOthersAreBoundToIt) {
  const ScopeTemplate before = DocumentTemplate();
  const auto roles = Created(PlanTemplate({before, Referenced::kYes, {}}));
  const std::string name = roles[0].metadata().name();
  ScopeTemplate of = before;
  auto& rule = *of.mutable_spec()->mutable_clusterroles(0)->mutable_rules(0);
  rule.clear_resources();
  for (const char* resource : {"secrets", "pods"}) rule.add_resources(resource);
  const std::map<std::string, BlockingBindings> blocking_bindings = {
      {name, {{"RoleBinding team-a/op-x"}}}};

  TemplatePlan plan = PlanTemplate({of, Referenced::kYes, roles, blocking_bindings});
  ASSERT_EQ(plan.fix.size(), 1u) << "what is revoked does not wait";
  EXPECT_TRUE(plan.fix[0].revokes());
  const rbacv1::ClusterRole now = plan.fix[0].desired;
  ASSERT_EQ(now.rules_size(), 1);
  EXPECT_EQ(now.rules(0).resources_size(), 1);
  EXPECT_EQ(now.rules(0).resources(0), "pods");
  EXPECT_TRUE(plan.problems.empty());
  ASSERT_EQ(plan.pending.size(), 1u);
  EXPECT_NE(plan.pending[0].find("gets no new rules"), std::string::npos) << plan.pending[0];
  EXPECT_NE(plan.pending[0].find("RoleBinding team-a/op-x"), std::string::npos);
  EXPECT_EQ(TemplateConditions(of, plan, {}, {})[0].reason, kRevocationPending);

  plan = PlanTemplate({of, Referenced::kYes, {now}, blocking_bindings});
  EXPECT_FALSE(Changes(plan)) << "it waits";
  EXPECT_EQ(plan.pending.size(), 1u);
  plan = PlanTemplate({of, Referenced::kYes, {now}, {{name, {}}}});
  ASSERT_EQ(plan.fix.size(), 1u);
  EXPECT_EQ(plan.fix[0].desired.rules(0).resources_size(), 2);
  EXPECT_TRUE(plan.pending.empty());
  plan = PlanTemplate({before, Referenced::kYes, roles, blocking_bindings});
  EXPECT_TRUE(plan.pending.empty()) << "it has all of its rules";
}

TEST(TemplatePlanTest, UnreadableBindingsPreventGrantsOnly) {
  const absl::Status denied = absl::PermissionDeniedError("rolebindings is forbidden");
  const ScopeTemplate before = DocumentTemplate();
  auto roles = Created(PlanTemplate({before, Referenced::kYes, {}}));
  const std::string name = roles[0].metadata().name();
  const std::map<std::string, BlockingBindings> blocking_bindings = {
      {name, {.read_error = denied}}};
  const auto expect_problem = [](const TemplatePlan& plan, const char* text) {
    ASSERT_EQ(plan.problems.size(), 1u);
    EXPECT_NE(plan.problems[0].find(text), std::string::npos) << plan.problems[0];
    EXPECT_NE(plan.problems[0].find("rolebindings is forbidden"), std::string::npos);
  };
  TemplatePlan plan = PlanTemplate({before, Referenced::kYes, {}, blocking_bindings});
  EXPECT_FALSE(Changes(plan));
  expect_problem(plan, "is not created");
  ScopeTemplate of = before;
  auto& rule = *of.mutable_spec()->mutable_clusterroles(0)->mutable_rules(0);
  rule.clear_resources();
  rule.add_resources("secrets");
  plan = PlanTemplate({of, Referenced::kYes, roles, blocking_bindings});
  expect_problem(plan, "gets no new rules");
  ASSERT_EQ(plan.fix.size(), 1u);
  EXPECT_EQ(plan.fix[0].desired.rules_size(), 0);
}

// Finalizers may keep the template for a long time, so its roles are narrowed meanwhile.
TEST(TemplatePlanTest, TemplateBeingDeletedCreatesNoRole) {
  ScopeTemplate of = DocumentTemplate();
  const auto roles = Created(PlanTemplate({of, Referenced::kYes, {}}));
  of.mutable_metadata()->mutable_deletiontimestamp()->set_seconds(1);
  of.mutable_spec()->mutable_clusterroles(0)->mutable_rules(0)->clear_resources();
  of.mutable_spec()->mutable_clusterroles(0)->mutable_rules(0)->add_resources("pods");
  TemplatePlan plan = PlanTemplate({of, Referenced::kYes, roles});
  EXPECT_EQ(plan.fix.size(), 1u);
  EXPECT_TRUE(plan.problems.empty());
  EXPECT_EQ(PlanTemplate({of, Referenced::kNo, roles}).remove.size(), 1u);
  plan = PlanTemplate({of, Referenced::kYes, {}});
  EXPECT_FALSE(Changes(plan));
  ASSERT_EQ(plan.problems.size(), 1u);
  EXPECT_NE(plan.problems[0].find("is being deleted"), std::string::npos);
}

TEST(TemplatePlanTest, RoleKeptByFinalizersIsReportedAndEmptied) {
  const ScopeTemplate of = DocumentTemplate();
  rbacv1::ClusterRole held = Created(PlanTemplate({of, Referenced::kYes, {}}))[0];
  held.mutable_metadata()->mutable_deletiontimestamp()->set_seconds(1);
  held.mutable_metadata()->add_finalizers("example.com/stay");

  TemplatePlan plan = PlanTemplate({of, Referenced::kNo, {held}});
  EXPECT_TRUE(plan.create.empty() && plan.remove.empty() && plan.problems.empty());
  ASSERT_EQ(plan.pending.size(), 1u);
  EXPECT_NE(plan.pending[0].find("finalizers example.com/stay block its deletion"),
            std::string::npos);
  ASSERT_EQ(plan.fix.size(), 1u);
  EXPECT_TRUE(plan.fix[0].desired.rules().empty());
  const auto conditions = TemplateConditions(of, plan, {}, {});
  EXPECT_FALSE(conditions[0].status);
  EXPECT_EQ(conditions[0].reason, kRevocationPending);
  held.clear_rules();
  EXPECT_FALSE(Changes(PlanTemplate({of, Referenced::kNo, {held}})));
  // If the role is wanted again, it is created again after its end, and gets no rules before.
  plan = PlanTemplate({of, Referenced::kYes, {held}});
  EXPECT_FALSE(Changes(plan));
  ASSERT_EQ(plan.problems.size(), 1u);
  auto& rule = *held.add_rules();
  rule = of.spec().clusterroles(0).rules(0);
  rule.clear_resources();
  rule.add_resources("pods");
  rule.add_resources("secrets");
  plan = PlanTemplate({of, Referenced::kYes, {held}});
  ASSERT_EQ(plan.fix.size(), 1u);
  ASSERT_EQ(plan.fix[0].desired.rules_size(), 1);
  EXPECT_EQ(plan.fix[0].desired.rules(0).resources_size(), 1) << "without services";

  // If the role is wanted, it is created again after its end. Until then, it has the template's
  // rules.
  plan = PlanTemplate({of, Referenced::kYes, {held}});
  EXPECT_TRUE(plan.create.empty() && plan.remove.empty());
  EXPECT_EQ(plan.fix.size(), 1u);
  EXPECT_EQ(TemplateConditions(of, plan, {}, {})[0].reason, kTemplatingFailed);
}

// Another object is the controller of our role.
TEST(TemplatePlanTest, RoleWithAnotherControllerIsReported) {
  const ScopeTemplate of = DocumentTemplate();
  rbacv1::ClusterRole taken = Created(PlanTemplate({of, Referenced::kYes, {}}))[0];
  auto& owner = *taken.mutable_metadata()->mutable_ownerreferences(0);
  owner.set_kind("Namespace");
  owner.set_name("hold");
  owner.set_uid("other");
  const TemplatePlan wanted = PlanTemplate({of, Referenced::kYes, {taken}});
  EXPECT_FALSE(Changes(wanted));
  EXPECT_EQ(wanted.problems.size(), 1u);
  const TemplatePlan unwanted = PlanTemplate({of, Referenced::kNo, {taken}});
  EXPECT_FALSE(Changes(unwanted));
  ASSERT_EQ(unwanted.pending.size(), 1u);
  EXPECT_NE(unwanted.pending[0].find("its controller is Namespace \"hold\""), std::string::npos);
}

// The privilege hole of the old operator: a template named a role that is not its own.
TEST(TemplatePlanTest, ForeignRoleIsNotWritten) {
  const ScopeTemplate of = Template(R"([{"generateName": "cluster-admin",
      "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
      "subjects": [{"kind": "User", "name": "eve"}]}])");
  auto foreign = FromJsonOrDie<rbacv1::ClusterRole>(
      R"({"metadata": {"uid": "admin-uid"},
          "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]})");
  foreign.mutable_metadata()->set_name(NameOf("cluster-admin"));
  for (const bool labelled : {false, true}) {
    if (labelled) {  // a label does not make the role ours while it has another controller
      (*foreign.mutable_metadata()->mutable_labels())[std::string(kTemplateUidLabel)] =
          "template-uid";
      auto& owner = *foreign.mutable_metadata()->add_ownerreferences();
      owner.set_uid("somebody");
      owner.set_controller(true);
    }
    const TemplatePlan plan = PlanTemplate({of, Referenced::kYes, {foreign}});
    EXPECT_FALSE(Changes(plan));
    ASSERT_EQ(plan.problems.size(), 1u);
    EXPECT_NE(plan.problems[0].find("\" exists and does not belong"), std::string::npos);
    const auto conditions = TemplateConditions(of, plan, {}, {});
    EXPECT_EQ(conditions[0].reason, kTemplatingFailed);
    EXPECT_FALSE(conditions[0].status);
    EXPECT_TRUE(PlanTemplate({of, Referenced::kNo, {foreign}}).remove.empty());
  }
}

TEST(TemplatePlanTest, ATemplateRecreatedUnderItsNameDoesNotOwnItsPredecessorsRoles) {
  ScopeTemplate of = Template(StrCat("[", kReader, "]"));
  const auto roles = Created(PlanTemplate({of, Referenced::kYes, {}}));
  of.mutable_metadata()->set_uid("template-uid-2");
  const TemplatePlan plan = PlanTemplate({of, Referenced::kYes, roles});
  ASSERT_EQ(plan.create.size(), 1u);
  EXPECT_NE(plan.create[0].metadata().name(), roles[0].metadata().name());
  EXPECT_TRUE(plan.fix.empty() && plan.remove.empty());
  EXPECT_TRUE(plan.problems.empty());
}

// No role is created, no role gets a rule, and a role that the template does not name is deleted.
TEST(TemplatePlanTest, InvalidTemplateOnlyRevokes) {
  const auto roles = Created(
      PlanTemplate({Template(StrCat("[", kReader, ",", kWriter, "]")), Referenced::kYes, {}}));
  const ScopeTemplate invalid = Template(R"([{"generateName": "reader", "rules": [
      {"apiGroups": [""], "resources": ["pods"], "verbs": ["get", "list"]}]}, {"generateName": "new",
      "rules": [], "subjects": [{"kind": "User", "name": "ann"}]}])");
  const TemplatePlan plan = PlanTemplate({invalid, Referenced::kYes, roles});
  EXPECT_TRUE(plan.create.empty());
  EXPECT_TRUE(plan.fix.empty()) << "list is new";
  ASSERT_EQ(plan.remove.size(), 1u);
  EXPECT_EQ(plan.remove[0].metadata().name(), NameOf("writer"));
  EXPECT_EQ(plan.problems, Names{std::string(ExpandTemplate(invalid).invalid.message())});
  const ScopeTemplate narrower = Template(R"([{"generateName": "reader", "rules": [
      {"apiGroups": [""], "resources": ["pods"]}], "subjects": [{"kind": "User", "name": "ann"}]}])");
  const TemplatePlan narrowing = PlanTemplate({narrower, Referenced::kYes, {roles[0]}});
  ASSERT_EQ(narrowing.fix.size(), 1u);
  EXPECT_TRUE(narrowing.fix[0].desired.rules().empty());
  // Without a reference its roles are deleted nevertheless.
  EXPECT_EQ(PlanTemplate({invalid, Referenced::kNo, roles}).remove.size(), 2u);
}

}  // namespace
}  // namespace mandate::scope
