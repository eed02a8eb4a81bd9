#include "testing/simulation/scope/rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/simulation/scope/cluster.h"

namespace mandate::simulation {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class RightsTest : public testing::Test {
 protected:
  // A declaration: a role for a user, in a namespace.
  void Declare(const std::string& verb, const std::string& user, const std::string& ns) {
    Declared declared;
    Json::Value& role = declared.templates.emplace_back()["spec"]["clusterRoles"][0];
    role["generateName"] = "r-";
    role["rules"].append(Rule(verb));
    role["subjects"].append(User(user));
    declared.templates[0]["metadata"]["name"] = "t";
    Json::Value& instance = declared.instances.emplace_back();
    instance["spec"]["scopeTemplateName"] = "t";
    instance["spec"]["namespaces"].append(ns);
    declared.namespaces.emplace_back()["metadata"]["name"] = ns;
    rights_.OnDeclared(std::move(declared), now_);
  }
  void SetRole(const std::string& verb) {
    Json::Value role;
    role["rules"].append(Rule(verb));
    Change(ClusterRoles(), "", "r", role);
  }
  void SetBinding(const std::string& user) {
    Json::Value binding;
    binding["roleRef"]["name"] = "r";
    Json::Value owner;
    owner["kind"] = "ScopeInstance";
    owner["uid"] = "I";
    owner["controller"] = true;
    binding["metadata"]["ownerReferences"].append(owner);
    binding["subjects"].append(User(user));
    Change(RoleBindings(), "a", "b", binding);
  }
  void Wait() { now_ += absl::Minutes(3); }

  absl::Time now_ = absl::UnixEpoch();
  Rights rights_;

 private:
  static Json::Value User(const std::string& name) {
    Json::Value subject;
    subject["kind"] = "User";
    subject["name"] = name;
    return subject;
  }
  static Json::Value Rule(const std::string& verb) {
    Json::Value rule;
    rule["verbs"].append(verb);
    rule["resources"].append(verb == "*" ? "*" : "pods");
    return rule;
  }
  void Change(const apiserver::GroupResource& kind, const std::string& ns, const std::string& name,
              const Json::Value& content) {
    auto object = std::make_shared<apiserver::StoredObject>();
    object->ns = ns;
    object->name = name;
    object->json = WriteJson(content);
    rights_.OnChange({.type = apiserver::Change::Type::kModified,
                      .resource = kind,
                      .object = object,
                      .previous = nullptr},
                     now_);
  }
};

TEST_F(RightsTest, ReportsARoleThatGivesMoreThanDeclared) {
  Declare("get", "eve", "a");
  SetRole("get");
  SetBinding("eve");
  Wait();
  Declare("list", "ann", "a");
  SetRole("list");
  EXPECT_THAT(rights_.GivenByRole("r", now_), ElementsAre("User eve gets list pods in \"a\""));
  EXPECT_THAT(rights_.GivenByBinding("a/b", now_), IsEmpty()) << "she was bound before";
  Declare("list", "eve", "a");
  EXPECT_THAT(rights_.GivenByRole("r", now_), IsEmpty());
}

TEST_F(RightsTest, ReportsABindingThatGivesMoreThanDeclared) {
  SetRole("get");
  Wait();
  SetBinding("eve");
  EXPECT_THAT(rights_.GivenByBinding("a/b", now_), ElementsAre("User eve gets get pods in \"a\""));
  Declare("get", "eve", "elsewhere");
  EXPECT_EQ(rights_.GivenByBinding("a/b", now_).size(), 1u);
}

TEST_F(RightsTest, ARoleThatIsNarrowedFromEverythingGivesNothing) {
  SetBinding("eve");
  SetRole("*");
  Wait();
  SetRole("get");
  EXPECT_THAT(rights_.GivenByRole("r", now_), IsEmpty());
  Wait();
  SetRole("list");
  EXPECT_EQ(rights_.GivenByRole("r", now_).size(), 1u);
}

// A component may know one edit and not yet the other.
TEST_F(RightsTest, AcceptsOneOfTwoRecentEdits) {
  Declare("get", "eve", "a");
  SetRole("list");
  Wait();
  Declare("list", "eve", "elsewhere");
  SetBinding("eve");
  EXPECT_EQ(rights_.GivenByBinding("a/b", now_).size(), 1u) << "she had another verb then";
  Declare("list", "eve", "a");
  Declare("get", "ann", "a");
  EXPECT_THAT(rights_.GivenByBinding("a/b", now_), IsEmpty());
}

// A component cannot know an object that was written a moment ago.
TEST_F(RightsTest, IgnoresARoleAndABindingThatAreBothNew) {
  SetRole("get");
  SetBinding("eve");
  EXPECT_THAT(rights_.GivenByRole("r", now_), IsEmpty());
  EXPECT_THAT(rights_.GivenByBinding("a/b", now_), IsEmpty());
}

}  // namespace
}  // namespace mandate::simulation
