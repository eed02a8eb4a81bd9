#include "testing/simulation/scope/checker.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::simulation {
namespace {

constexpr char kOwner[] =
    R"("ownerReferences":[{"apiVersion":"operators.coreos.com/v1alpha1","kind":")";

class JudgeTest : public testing::Test {
 protected:
  JudgeTest() : cluster_(loop_, 1), checker_(cluster_, held_) {
    Load(R"({"apiVersion":"v1","kind":"Namespace","metadata":{"name":"a"}})");
    Load(R"({"apiVersion":"operators.coreos.com/v1alpha1","kind":"ScopeTemplate",
        "metadata":{"name":"t","uid":"T","generation":1},"spec":{"clusterRoles":[
        {"generateName":"view-","rules":[],"subjects":[{"kind":"User","name":"u"}]}]},
        "status":{"conditions":[{"type":"Templated","status":"True","observedGeneration":1,
        "reason":"TemplatingSuccessful","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
    Load(R"({"apiVersion":"operators.coreos.com/v1alpha1","kind":"ScopeInstance",
        "metadata":{"name":"i","uid":"I","generation":1},
        "spec":{"scopeTemplateName":"t","namespaces":["a"]},
        "status":{"conditions":[{"type":"Scoped","status":"True","observedGeneration":1,
        "reason":"ScopingSuccessful","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
    Load(Role("scope-template:view-bcdfghjklm", "[]"));
    Load(Binding("view-mlkjhgfdcb", "u"));
  }

  void Load(const std::string& json) {
    const absl::Status loaded = cluster_.core().Load(json);
    ASSERT_TRUE(loaded.ok()) << loaded << json;
  }
  static std::string Role(const std::string& name, const std::string& rules) {
    return StrCat(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
        "metadata":{"name":")",
                  name, R"(","labels":{"operators.coreos.io/scopeTemplateUID":"T"},)", kOwner,
                  R"(ScopeTemplate","name":"t","uid":"T","controller":true,
        "blockOwnerDeletion":true}]},"rules":)",
                  rules, "}");
  }
  static std::string Binding(const std::string& name, const std::string& user,
                             const std::string& more = "") {
    return StrCat(R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"RoleBinding",
        "metadata":{"namespace":"a","name":")",
                  name, "\"", more, R"(,"labels":{"operators.coreos.io/scopeInstanceUID":"I"},)",
                  kOwner,
                  R"(ScopeInstance","name":"i","uid":"I","controller":true,
        "blockOwnerDeletion":true}]},
        "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",
        "name":"scope-template:view-bcdfghjklm"},
        "subjects":[{"apiGroup":"rbac.authorization.k8s.io","kind":"User","name":")",
                  user, "\"}]}");
  }

  SimulatedLoop loop_;
  Cluster cluster_;
  Held held_;
  Checker checker_;
};

TEST_F(JudgeTest, WhatIsAsDeclaredIsRight) {
  EXPECT_EQ(checker_.Differences(), std::vector<std::string>{});
}

TEST_F(JudgeTest, EveryDifferenceIsWrong) {
  const auto wrong_after = [&](const std::string& json) {
    Load(json);
    return checker_.Differences().size();
  };
  EXPECT_EQ(wrong_after(Role("scope-template:view-bcdfghjklm",
                             R"([{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}])")),
            1u);
  Load(Role("scope-template:view-bcdfghjklm", "[]"));
  EXPECT_EQ(wrong_after(Binding("view-mlkjhgfdcb", "mallory")), 1u);
  Load(Binding("view-mlkjhgfdcb", "u"));
  EXPECT_EQ(wrong_after(Binding("view-bbbbbbbbbb", "u")), 1u);  // there twice
  cluster_.store().Delete(RoleBindings(), "a", "view-bbbbbbbbbb");
  EXPECT_EQ(wrong_after(Role("scope-template:edit-bcdfghjklm", "[]")), 1u);  // not wanted
  cluster_.store().Delete(ClusterRoles(), "", "scope-template:edit-bcdfghjklm");
  cluster_.store().Delete(RoleBindings(), "a", "view-mlkjhgfdcb");
  EXPECT_EQ(checker_.Differences().size(), 1u);  // missing
}

TEST_F(JudgeTest, SuccessIsALieWhileSomebodyKeepsWhatIsBeingDeleted) {
  Load(Binding("view-mlkjhgfdcb", "u",
               R"(,"uid":"B","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["x.io/y"])"));
  held_["B"] = {"I"};
  EXPECT_EQ(checker_.Differences().size(), 1u);
}

TEST_F(JudgeTest, WhatIsHeldOfAnInstanceThatIsGoneGrantsNothing) {
  std::string binding =
      Binding("view-mlkjhgfdcb", "u",
              R"(,"uid":"B","deletionTimestamp":"2026-01-01T00:00:00Z","finalizers":["x.io/y"])");
  Load(binding);
  held_["B"] = {"I"};
  cluster_.store().Delete(Instances(), "", "i");
  cluster_.store().Delete(ClusterRoles(), "", "scope-template:view-bcdfghjklm");
  EXPECT_EQ(checker_.Differences().size(), 1u);
  Load(binding.erase(binding.find("\"subjects\"")) + "\"subjects\":[]}");
  EXPECT_EQ(checker_.Differences(), std::vector<std::string>{});
}

// The binding's instance would have adopted it again, but was deleted before that.
TEST_F(JudgeTest, ARoleGetsNoNewRulesForALooseBindingOfAnInstanceThatIsGone) {
  std::string loose = Binding("view-mlkjhgfdcb", "u", R"(,"uid":"B")");
  const size_t owner = loose.find(",\"ownerReferences\"");
  loose.erase(owner, loose.find("]}", owner) + 1 - owner);
  Load(loose);
  held_["B"] = {.owner_uid = "I", .template_uid = "T", .owner_name = "i", .loose = true};
  EXPECT_EQ(checker_.Differences().size(), 2u) << "it lacks its owner, and its instance the grant";
  cluster_.store().Delete(Instances(), "", "i");
  cluster_.store().Delete(Templates(), "", "t");
  Load(R"({"apiVersion":"operators.coreos.com/v1alpha1","kind":"ScopeTemplate",
      "metadata":{"name":"t","uid":"T","generation":1},"spec":{"clusterRoles":[
      {"generateName":"view-","rules":[{"apiGroups":[""],"resources":["pods"],"verbs":["get"]}],
      "subjects":[{"kind":"User","name":"u"}]}]},
      "status":{"conditions":[{"type":"Templated","status":"False","observedGeneration":1,
      "reason":"RevocationPending","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
  Load(R"({"apiVersion":"operators.coreos.com/v1alpha1","kind":"ScopeInstance",
      "metadata":{"name":"j","uid":"J","generation":1},
      "spec":{"scopeTemplateName":"t","namespaces":["a"]}})");
  EXPECT_EQ(checker_.Differences(), std::vector<std::string>{});
  // A foreign finalizer keeps the binding's instance, which is terminating nevertheless.
  Load(R"({"apiVersion":"operators.coreos.com/v1alpha1","kind":"ScopeInstance",
      "metadata":{"name":"i","uid":"I","generation":2,"finalizers":["x.io/y"],
      "deletionTimestamp":"2026-01-01T00:00:00Z"},
      "spec":{"scopeTemplateName":"t","namespaces":["a"]},
      "status":{"conditions":[{"type":"Scoped","status":"False","observedGeneration":2,
      "reason":"RevocationPending","message":"","lastTransitionTime":"2026-01-01T00:00:00Z"}]}})");
  EXPECT_EQ(checker_.Differences(), std::vector<std::string>{});
  held_["B"].loose = false;
  held_.erase("B");
  EXPECT_FALSE(checker_.Differences().empty()) << "nothing stands in the way";
}

TEST(GenerateNameOfTest, TakesTheSuffixOff) {
  EXPECT_EQ(GenerateNameOf("scope-template:fooClusterRole-bcdfghjkl2"), "fooClusterRole-");
  EXPECT_EQ(GenerateNameOf("scope-template:without-1x"), "");
  EXPECT_EQ(GenerateNameOf("scope-template:has-vowelsaaaa"), "");
  EXPECT_EQ(GenerateNameOf("fooClusterRole-bcdfghjkl2"), "");
}

}  // namespace
}  // namespace mandate::simulation
