#include "controllers/scope/role_template.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "controllers/scope/generated_names.h"
#include "controllers/scope/testing_objects.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeTemplate;

TEST(RoleTemplateTest, AnInvalidTemplateNamesItsFields) {
  struct Row {
    std::string roles;
    std::string message;
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
  for (const Row& row : rows) {
    const auto of = FromJsonOrDie<ScopeTemplate>(StrCat(
        R"({"metadata": {"name": "t", "uid": "u"}, "spec": {"clusterRoles": )", row.roles, "}}"));
    const absl::Status status = ExpandTemplate(of).invalid;
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << row.roles;
    EXPECT_NE(std::string(status.message()).find(row.message), std::string::npos) << status;
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
                      {"kind": "User", "name": "x", "apiGroup": "rbac.authorization.k8s.io"}]},
        {"generateName": "c", "rules": []}]}})");
  const auto [roles, invalid] = ExpandTemplate(of);
  ASSERT_TRUE(invalid.ok()) << invalid;
  ASSERT_EQ(roles[0].subjects->size(), 1);
  EXPECT_EQ(roles[0].subjects->at(0).name(), "all");
  EXPECT_EQ(roles[0].subjects->at(0).apigroup(), "rbac.authorization.k8s.io");
  ASSERT_EQ(roles[1].subjects->size(), 2) << "x stands there twice";
  EXPECT_EQ(roles[1].subjects->at(0).name(), "x");
  EXPECT_EQ(roles[1].subjects->at(1).name(), "y");
  EXPECT_EQ(roles[2].subjects, roles[0].subjects) << "they are in memory once";
}

// The valid part of each role, as "name: verbs of its rules; its subjects".
TEST(RoleTemplateTest, InvalidTemplateKeepsItsValidParts) {
  const struct {
    std::string_view spec;
    std::vector<std::string> roles;
  } rows[] = {
      {R"("clusterRoles": [{"generateName": "", "rules": []}])", {}},
      {R"("clusterRoles": [{"generateName": "a", "rules": []}])", {"a: ; "}},
      {R"("clusterRoles": [
           {"generateName": "a", "rules": [{"apiGroups": [""], "resources": ["pods"]},
               {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}],
            "subjects": [{"kind": "User", "name": "x"}]},
           {"generateName": "b", "rules": [],
            "subjects": [{"kind": "Robot", "name": "y"}, {"kind": "User", "name": "z"}]}])",
       {"a: get; x", "b: ; z"}},
      // The role's own subjects are invalid. It does not get the template's subjects instead.
      {R"("bindingTemplate": {"subjects": [{"kind": "User", "name": "all"}]},
          "clusterRoles": [{"generateName": "a", "rules": [],
            "subjects": [{"kind": "Robot", "name": "y"}]}])",
       {"a: ; "}},
      // The author may mean either of the two roles.
      {R"("clusterRoles": [
           {"generateName": "a", "subjects": [{"kind": "User", "name": "x"}],
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
           {"generateName": "a",
            "subjects": [{"kind": "User", "name": "y"}, {"kind": "User", "name": "x"}],
            "rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]}])",
       {"a: get list; x y"}},
      {R"("bindingTemplate": {"subjects": [{"kind": "User", "name": "all"}]},
          "clusterRoles": [{"generateName": "a", "rules": []}, {"generateName": "b", "rules": []},
            {"generateName": "a", "rules": [], "subjects": [{"kind": "User", "name": "x"}]},
            {"generateName": "a", "rules": [],
             "subjects": [{"kind": "User", "name": "x"}, {"kind": "User", "name": "all"},
                          {"kind": "User", "name": "y"}]}])",
       {"a: ; all x y", "b: ; all"}},
  };
  for (const auto& row : rows) {
    const auto of = FromJsonOrDie<ScopeTemplate>(
        StrCat(R"({"metadata": {"name": "t", "uid": "u"}, "spec": {)", row.spec, "}}"));
    const auto [roles, invalid] = ExpandTemplate(of);
    EXPECT_TRUE(absl::IsInvalidArgument(invalid)) << row.spec;
    std::vector<std::string> valid;
    for (const RoleTemplate& role : roles) {
      std::vector<std::string> verbs, subjects;
      for (const auto& rule : role.rules) {
        verbs.insert(verbs.end(), rule.verbs().begin(), rule.verbs().end());
      }
      for (const auto& subject : *role.subjects) subjects.push_back(subject.name());
      valid.push_back(StrCat(role.generate_name, ": ", absl::StrJoin(verbs, " "), "; ",
                             absl::StrJoin(subjects, " ")));
    }
    EXPECT_EQ(valid, row.roles) << row.spec;
  }
}

// Each place in which an instance binds the template stores them all.
TEST(ExpandTemplate, BoundsTheSubjectsOfAllRolesTogether) {
  ScopeTemplate of;
  of.mutable_metadata()->set_uid("u");
  auto& spec = *of.mutable_spec();
  auto& subject = *spec.mutable_bindingtemplate()->add_subjects();
  subject.set_kind("User");
  subject.set_name(std::string(kMaxSubjectBytes / 2 - 100, 'a'));
  spec.add_clusterroles()->set_generatename("a-");
  spec.add_clusterroles()->set_generatename("b-");
  EXPECT_EQ(ExpandTemplate(of).invalid, absl::OkStatus());
  spec.add_clusterroles()->set_generatename("c-");
  const TemplateRoles expanded = ExpandTemplate(of);
  EXPECT_EQ(expanded.invalid,
            absl::InvalidArgumentError(
                "spec.clusterRoles: the subjects of all roles together have more than 262144 "
                "bytes; use groups as subjects, or several ScopeTemplates"));
  EXPECT_EQ(expanded.roles.size(), 3u) << "what was granted is kept";
}

}  // namespace
}  // namespace mandate::scope
