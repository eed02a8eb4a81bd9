#include "controllers/scope/role_template.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "controllers/scope/testing_objects.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeTemplate;

TEST(RoleTemplateTest, AnInvalidTemplateNamesItsFields) {
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
  for (const Row& row : rows) {
    const auto of = FromJsonOrDie<ScopeTemplate>(StrCat(
        R"({"metadata": {"name": "t", "uid": "u"}, "spec": {"clusterRoles": )", row.roles, "}}"));
    const absl::Status status = ExpandTemplate(of).status();
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
  const auto roles = ExpandTemplate(of);
  ASSERT_TRUE(roles.ok()) << roles.status();
  ASSERT_EQ((*roles)[0].subjects->size(), 1);
  EXPECT_EQ((*roles)[0].subjects->at(0).name(), "all");
  EXPECT_EQ((*roles)[0].subjects->at(0).apigroup(), "rbac.authorization.k8s.io");
  ASSERT_EQ((*roles)[1].subjects->size(), 2) << "x stands there twice";
  EXPECT_EQ((*roles)[1].subjects->at(0).name(), "x");
  EXPECT_EQ((*roles)[1].subjects->at(1).name(), "y");
  EXPECT_EQ((*roles)[2].subjects, (*roles)[0].subjects) << "they are in memory once";
}

}  // namespace
}  // namespace mandate::scope
