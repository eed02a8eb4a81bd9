#include "controllers/scope/template_plan.h"

#include <gtest/gtest.h>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/role_template.h"
#include "controllers/scope/testing_objects.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeTemplate;

// What the server would have after `plan`: created roles with UIDs, mended ones as applied.
std::vector<rbacv1::ClusterRole> After(const TemplatePlan& plan) {
  std::vector<rbacv1::ClusterRole> roles = plan.create;
  for (auto& role : roles) role.mutable_metadata()->set_uid("uid-of-" + role.metadata().name());
  roles.insert(roles.end(), plan.mend.begin(), plan.mend.end());
  return roles;
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

std::string List(std::string_view a, std::string_view b) { return StrCat("[", a, ",", b, "]"); }

TEST(TemplatePlanTest, WithoutAnInstanceNoRoleIsMade) {
  const TemplatePlan plan = PlanTemplate({DocumentTemplate(), false, {}});
  EXPECT_TRUE(plan.create.empty() && plan.mend.empty() && plan.remove.empty());
  EXPECT_TRUE(plan.problems.empty());
}

TEST(TemplatePlanTest, AReferencedTemplateGetsItsRoles) {
  const TemplatePlan plan = PlanTemplate({DocumentTemplate(), true, {}});
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

TEST(TemplatePlanTest, ConvergedIsSilent) {
  const ScopeTemplate of = Template(List(kReader, kWriter));
  const TemplatePlan plan = PlanTemplate({of, true, After(PlanTemplate({of, true, {}}))});
  EXPECT_TRUE(plan.create.empty() && plan.mend.empty() && plan.remove.empty());
  EXPECT_TRUE(plan.problems.empty());
}

TEST(TemplatePlanTest, TheLastReferenceTakesTheRolesAlong) {
  const ScopeTemplate of = Template(List(kReader, kWriter));
  const auto roles = After(PlanTemplate({of, true, {}}));
  const TemplatePlan plan = PlanTemplate({of, false, roles});
  EXPECT_TRUE(plan.create.empty() && plan.mend.empty());
  EXPECT_EQ(plan.remove, (std::vector<Removal>{{{"", "reader"}, "uid-of-reader"},
                                               {{"", "writer"}, "uid-of-writer"}}));
}

TEST(TemplatePlanTest, ARoleThatLeftTheTemplateGoesAndTheOthersStay) {
  const auto roles = After(PlanTemplate({Template(List(kReader, kWriter)), true, {}}));
  const TemplatePlan plan = PlanTemplate({Template(StrCat("[", kReader, "]")), true, roles});
  EXPECT_TRUE(plan.create.empty() && plan.mend.empty());
  EXPECT_EQ(plan.remove, (std::vector<Removal>{{{"", "writer"}, "uid-of-writer"}}));
}

// The old operator stopped at the first role that needed nothing.
TEST(TemplatePlanTest, EveryRoleIsLookedAt) {
  const ScopeTemplate of = Template(List(kReader, kWriter));
  auto roles = After(PlanTemplate({of, true, {}}));
  roles.pop_back();
  const TemplatePlan plan = PlanTemplate({of, true, roles});
  ASSERT_EQ(plan.create.size(), 1u);
  EXPECT_EQ(plan.create[0].metadata().name(), "writer");
}

TEST(TemplatePlanTest, EveryEditIsMendedUnderTheRolesOwnUid) {
  const ScopeTemplate of = Template(StrCat("[", kReader, "]"));
  const rbacv1::ClusterRole good = After(PlanTemplate({of, true, {}}))[0];
  std::vector<rbacv1::ClusterRole> edits(5, good);
  edits[0].mutable_rules(0)->add_verbs("delete");
  edits[1].mutable_metadata()->clear_ownerreferences();
  edits[2].mutable_metadata()->mutable_labels()->erase(std::string(kTemplateUidLabel));
  edits[3].clear_rules();
  edits[4].mutable_aggregationrule();
  for (size_t i = 0; i < edits.size(); ++i) {
    const TemplatePlan plan = PlanTemplate({of, true, {edits[i]}});
    ASSERT_EQ(plan.mend.size(), 1u) << "edit " << i;
    EXPECT_EQ(plan.mend[0].metadata().uid(), "uid-of-reader");
    EXPECT_EQ(plan.mend[0].rules(0).verbs_size(), 1);
    EXPECT_TRUE(plan.create.empty() && plan.remove.empty() && plan.problems.empty());
  }
}

// The privilege hole of the old operator: a template named a role that is not its own.
TEST(TemplatePlanTest, AForeignRoleIsNeverTouched) {
  const ScopeTemplate of = Template(R"([{"generateName": "cluster-admin",
      "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
      "subjects": [{"kind": "User", "name": "eve"}]}])");
  auto foreign = FromJsonOrDie<rbacv1::ClusterRole>(
      R"({"metadata": {"name": "cluster-admin", "uid": "admin-uid"},
          "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]})");
  for (const bool labelled : {false, true}) {
    if (labelled) {  // a label does not make it ours while another controls it
      (*foreign.mutable_metadata()->mutable_labels())[std::string(kTemplateUidLabel)] =
          "template-uid";
      auto& owner = *foreign.mutable_metadata()->add_ownerreferences();
      owner.set_uid("somebody");
      owner.set_controller(true);
    }
    const TemplatePlan plan = PlanTemplate({of, true, {foreign}});
    EXPECT_TRUE(plan.create.empty() && plan.mend.empty() && plan.remove.empty());
    ASSERT_EQ(plan.problems.size(), 1u);
    EXPECT_NE(plan.problems[0].find("\"cluster-admin\" exists and does not belong"),
              std::string::npos);
    const auto conditions = TemplateConditions(of, plan, {});
    EXPECT_EQ(conditions[0].reason, kTemplatingFailed);
    EXPECT_FALSE(conditions[0].status);
    EXPECT_TRUE(PlanTemplate({of, false, {foreign}}).remove.empty());
  }
}

TEST(TemplatePlanTest, ATemplateRecreatedUnderItsNameDoesNotOwnItsPredecessorsRoles) {
  ScopeTemplate of = Template(StrCat("[", kReader, "]"));
  const auto roles = After(PlanTemplate({of, true, {}}));
  of.mutable_metadata()->set_uid("template-uid-2");
  const TemplatePlan plan = PlanTemplate({of, true, roles});
  EXPECT_TRUE(plan.create.empty() && plan.mend.empty() && plan.remove.empty());
  EXPECT_EQ(plan.problems.size(), 1u);
}

TEST(TemplatePlanTest, AnInvalidTemplateChangesNothingAndNamesItsFields) {
  struct Row {
    std::string_view roles;
    std::string_view message;
  };
  const Row rows[] = {
      {R"([{"generateName": "", "rules": [], "subjects": [{"kind": "User", "name": "a"}]}])",
       "spec.clusterRoles[0].generateName: required"},
      {R"([{"generateName": "a/b", "rules": [], "subjects": [{"kind": "User", "name": "a"}]}])",
       "spec.clusterRoles[0].generateName: "},
      {R"([{"generateName": "r", "rules": [{"apiGroups": [""], "resources": ["pods"]}],
            "subjects": [{"kind": "User", "name": "a"}]}])",
       "spec.clusterRoles[0].rules[0].verbs: at least one verb is required"},
      {R"([{"generateName": "r", "rules": [{"resources": ["pods"], "verbs": ["get"]}],
            "subjects": [{"kind": "User", "name": "a"}]}])",
       "spec.clusterRoles[0].rules[0].apiGroups: at least one group is required"},
      {R"([{"generateName": "r", "rules": [{"apiGroups": [""], "verbs": ["get"]}],
            "subjects": [{"kind": "User", "name": "a"}]}])",
       "spec.clusterRoles[0].rules[0].resources: at least one resource is required"},
      {R"([{"generateName": "r", "rules": [{"apiGroups": [""], "nonResourceURLs": ["/x"],
            "verbs": ["get"]}], "subjects": [{"kind": "User", "name": "a"}]}])",
       "spec.clusterRoles[0].rules[0].nonResourceURLs: a rule cannot apply to both"},
      {R"([{"generateName": "r", "rules": []}])",
       "spec.clusterRoles[0].bindingTemplate.subjects: required"},
      {R"([{"generateName": "r", "rules": [],
            "subjects": [{"kind": "ServiceAccount", "name": "a"}]}])",
       "spec.clusterRoles[0].subjects[0].namespace: required for a ServiceAccount"},
      {R"([{"generateName": "r", "rules": [],
            "subjects": [{"kind": "ServiceAccount", "name": "fooServiceAccount",
                          "namespace": "x"}]}])",
       "spec.clusterRoles[0].subjects[0].name: "},
      {R"([{"generateName": "r", "rules": [],
            "subjects": [{"kind": "User", "name": "a", "namespace": "x"}]}])",
       "spec.clusterRoles[0].subjects[0].namespace: must be empty for a User"},
      {R"([{"generateName": "r", "rules": [],
            "subjects": [{"kind": "Robot", "name": "a"}]}])",
       "spec.clusterRoles[0].subjects[0].kind: \"Robot\" is not one of User, Group, "
       "ServiceAccount"},
      {R"([{"generateName": "r", "rules": [], "subjects": [{"kind": "User", "name": "a"}]},
           {"generateName": "r", "rules": [], "subjects": [{"kind": "User", "name": "a"}]}])",
       "spec.clusterRoles[1].generateName: \"r\" is already the name of spec.clusterRoles[0]"},
  };
  const auto good = Template(StrCat("[", kReader, "]"));
  const auto roles = After(PlanTemplate({good, true, {}}));
  for (const Row& row : rows) {
    const TemplatePlan plan = PlanTemplate({Template(row.roles), true, roles});
    EXPECT_TRUE(plan.create.empty() && plan.mend.empty() && plan.remove.empty()) << row.roles;
    ASSERT_EQ(plan.problems.size(), 1u) << row.roles;
    EXPECT_NE(plan.problems[0].find(row.message), std::string::npos) << plan.problems[0];
    // Unreferenced, its roles go all the same.
    EXPECT_EQ(PlanTemplate({Template(row.roles), false, roles}).remove.size(), 1u);
  }
}

TEST(RoleTemplateTest, SubjectsComeFromTheRoleElseFromTheTemplate) {
  const auto of = FromJsonOrDie<ScopeTemplate>(R"({"metadata": {"name": "t", "uid": "u"}, "spec": {
      "bindingTemplate": {"subjects": [{"kind": "Group", "name": "all"}]},
      "clusterRoles": [
        {"generateName": "a", "rules": []},
        {"generateName": "b", "rules": [],
         "bindingTemplate": {"subjects": [{"kind": "User", "name": "x"}]},
         "subjects": [{"kind": "User", "name": "y"},
                      {"kind": "User", "name": "x", "apiGroup": "rbac.authorization.k8s.io"}]}]}})");
  const auto roles = ExpandTemplate(of);
  ASSERT_TRUE(roles.ok()) << roles.status();
  ASSERT_EQ((*roles)[0].subjects.size(), 1u);
  EXPECT_EQ((*roles)[0].subjects[0].name(), "all");
  EXPECT_EQ((*roles)[0].subjects[0].apigroup(), "rbac.authorization.k8s.io");
  ASSERT_EQ((*roles)[1].subjects.size(), 2u) << "x stands there twice";
  EXPECT_EQ((*roles)[1].subjects[0].name(), "x");
  EXPECT_EQ((*roles)[1].subjects[1].name(), "y");
}

TEST(TemplateConditionsTest, FailuresOfWritesFailTheTemplate) {
  const ScopeTemplate of = DocumentTemplate();
  const auto good = TemplateConditions(of, {}, {});
  EXPECT_EQ(good,
            (std::vector<DesiredCondition>{{kTemplated, true, kTemplatingSuccessful,
                                            "ScopeTemplate \"foo\" successfully reconciled"}}));
  std::vector<std::string> failures;
  for (int i = 0; i < 12; ++i) failures.push_back(StrCat("failure ", i));
  const auto bad = TemplateConditions(of, {}, failures);
  EXPECT_FALSE(bad[0].status);
  EXPECT_TRUE(bad[0].message.starts_with("failure 0; failure 1;"));
  EXPECT_TRUE(bad[0].message.ends_with("; and 2 more")) << bad[0].message;
}

}  // namespace
}  // namespace mandate::scope
