#include "testing/simulation/scope/model.h"

#include <gtest/gtest.h>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/simulation/scope/not_yet.h"

namespace mandate::simulation {
namespace {

Json::Value J(const std::string& text) {
  auto value = ParseJson(text);
  EXPECT_TRUE(value.ok()) << text << value.status();
  return value.ok() ? *value : Json::Value();
}

// A template "t" with one role that user u gets.
Json::Value Template(const std::string& generate_name = "view-") {
  return J(StrCat(R"({"metadata":{"name":"t","uid":"T"},"spec":{"clusterRoles":[{"generateName":")",
                  generate_name,
                  R"(","rules":[{"verbs":["get"]}],"subjects":[{"kind":"User","name":"u"}]}]}})"));
}
Json::Value Instance(const std::string& spec) {
  return J(
      StrCat(R"({"metadata":{"name":"i","uid":"I"},"spec":{"scopeTemplateName":"t")", spec, "}}"));
}
Json::Value Namespace(const std::string& name, const std::string& more = "") {
  return J(StrCat(R"({"metadata":{"name":")", name, "\"", more, "}}"));
}

const RoleId kRole{"T", "view-"};
const std::set<std::string> kUser = {"User u"};

TEST(ModelTest, ARoleIsThereWhileItIsReferenced) {
  EXPECT_EQ(Expect({{Template()}, {}, {}}).roles.size(), 0u);
  const Expected expected = Expect({{Template()}, {Instance("")}, {}});
  ASSERT_EQ(expected.roles.size(), 1u);
  EXPECT_EQ(expected.roles.at(kRole)[0]["verbs"][0].asString(), "get");
  EXPECT_EQ(expected.reasons.at("T"), "TemplatingSuccessful");
}

TEST(ModelTest, WithoutNamespacesTheWholeCluster) {
  const Expected expected = Expect({{Template()}, {Instance("")}, {Namespace("a")}});
  EXPECT_EQ(expected.grants, (decltype(expected.grants){{{"I", kRole, ""}, kUser}}));
  EXPECT_EQ(expected.reasons.at("I"), "ScopingSuccessful");
}

TEST(ModelTest, NamedAndSelectedNamespaces) {
  const Expected expected =
      Expect({{Template()},
              {Instance(R"(,"namespaces":["a"],"namespaceSelector":{"k":"v"})")},
              {Namespace("a"), Namespace("b", R"(,"labels":{"k":"v"})"), Namespace("c")}});
  EXPECT_EQ(expected.grants,
            (decltype(expected.grants){{{"I", kRole, "a"}, kUser}, {{"I", kRole, "b"}, kUser}}));
}

TEST(ModelTest, AMissingNamespaceFailsTheInstanceAndGrantsTheRest) {
  const Expected expected =
      Expect({{Template()},
              {Instance(R"(,"namespaces":["a","gone","leaving"])")},
              {Namespace("a"), Namespace("leaving", R"(,"deletionTimestamp":"now")")}});
  EXPECT_EQ(expected.grants.size(), 1u);
  EXPECT_EQ(expected.reasons.at("I"), "ScopingFailed");
}

TEST(ModelTest, ASelectorThatTakesNothingIsNotTheCluster) {
  const Expected expected =
      Expect({{Template()}, {Instance(R"(,"namespaceSelector":{"k":"v"})")}, {Namespace("a")}});
  EXPECT_TRUE(expected.grants.empty());
}

TEST(ModelTest, WithoutItsTemplateNothingIsGranted) {
  const Expected expected = Expect({{}, {Instance("")}, {}});
  EXPECT_TRUE(expected.grants.empty());
  EXPECT_EQ(expected.reasons.at("I"), "ScopeTemplateNotFound");
  EXPECT_FALSE(expected.Allows({"I", kRole, ""}));
}

TEST(ModelTest, AnInvalidTemplateLeavesWhatIsInItsScope) {
  Json::Value invalid = Template();
  invalid["spec"]["clusterRoles"][0]["subjects"].append(
      J(R"({"kind":"ServiceAccount","name":"s"})"));
  invalid["spec"]["clusterRoles"][0]["rules"].append(J(R"({"resources":["pods"]})"));
  const Expected expected =
      Expect({{invalid}, {Instance(R"(,"namespaces":["a"])")}, {Namespace("a")}});
  EXPECT_EQ(expected.reasons.at("T"), "TemplatingFailed");
  EXPECT_EQ(expected.reasons.at("I"), "ScopeTemplateFailed");
  EXPECT_TRUE(expected.Allows({"I", kRole, "a"}));
  EXPECT_FALSE(expected.Allows({"I", kRole, ""}));
  EXPECT_FALSE(expected.Allows({"I", kRole, "b"}));
  EXPECT_EQ(expected.grants_at_most.at({"I", kRole, "a"}), kUser);
  EXPECT_EQ(expected.roles_at_most.at(kRole).size(), 1u);
  EXPECT_TRUE(expected.grants.empty());
  // Grants of another template are not kept.
  EXPECT_FALSE(expected.Allows({"I", {"another", "view-"}, "a"}));
  // The template names no subject, so no subject keeps the role.
  invalid["spec"]["clusterRoles"][0].removeMember("subjects");
  EXPECT_FALSE(Expect({{invalid}, {Instance(R"(,"namespaces":["a"])")}, {Namespace("a")}})
                   .Allows({"I", kRole, "a"}));
}

TEST(ModelTest, ATemplateThatIsLeavingLeavesWhatIsInItsScope) {
  Json::Value leaving = Template();
  leaving["metadata"]["deletionTimestamp"] = "now";
  const Expected expected =
      Expect({{leaving}, {Instance(R"(,"namespaces":["a"])")}, {Namespace("a")}});
  EXPECT_EQ(expected.reasons.at("I"), "ScopeTemplateFailed");
  EXPECT_TRUE(expected.Allows({"I", kRole, "a"}));
  EXPECT_FALSE(expected.Allows({"I", kRole, "b"}));
  EXPECT_EQ(expected.Allows({"I", {"another", "view-"}, "a"}),
            NotYet().contains(kLeavesOnlyItsOwn));
}

TEST(ModelTest, AnInstanceThatIsLeavingReferencesAndGrantsNothing) {
  Json::Value leaving = Instance("");
  leaving["metadata"]["deletionTimestamp"] = "now";
  const Expected expected = Expect({{Template()}, {leaving}, {}});
  EXPECT_TRUE(expected.roles.empty());
  EXPECT_TRUE(expected.grants.empty());
  EXPECT_FALSE(expected.Allows({"I", kRole, ""}));
}

TEST(ModelTest, Selectors) {
  const Json::Value labels = J(R"({"k":"v"})");
  const auto one = [&](const std::string& op, const std::string& values) {
    return Takes(
        J(StrCat(R"({"matchExpressions":[{"key":"k","operator":")", op, "\"", values, "}]}")),
        labels);
  };
  EXPECT_TRUE(Takes(J("{}"), labels));
  EXPECT_TRUE(Takes(J(R"({"k":"v"})"), labels));
  EXPECT_FALSE(Takes(J(R"({"k":"w"})"), labels));
  EXPECT_FALSE(Takes(J(R"({"matchLabels":{"other":"v"}})"), labels));
  EXPECT_TRUE(one("In", R"(,"values":["u","v"])"));
  EXPECT_FALSE(one("In", R"(,"values":["u"])"));
  EXPECT_FALSE(one("NotIn", R"(,"values":["v"])"));
  EXPECT_TRUE(one("NotIn", R"(,"values":["u"])"));
  EXPECT_TRUE(one("Exists", ""));
  EXPECT_FALSE(one("DoesNotExist", ""));
}

}  // namespace
}  // namespace mandate::simulation
