#include "controllers/scope/cluster_role.h"

#include <gtest/gtest.h>

#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "controllers/scope/generated_names.h"
#include "controllers/scope/testing_objects.h"

namespace mandate::scope {
namespace {

using rbacv1::ClusterRole;

constexpr char kUid[] = "template-uid";

// The document's role under this generateName.
ClusterRole Made(std::string_view generate_name) {
  auto of = DocumentTemplate();
  of.mutable_spec()->mutable_clusterroles(0)->set_generatename(std::string(generate_name));
  const auto [roles, invalid] = ExpandTemplate(of);
  EXPECT_TRUE(invalid.ok()) << invalid;
  return DesiredClusterRole(of, roles.front());
}

void SetController(ClusterRole& role, std::string_view uid) {
  role.mutable_metadata()->mutable_ownerreferences(0)->set_uid(std::string(uid));
}

TEST(WhyForeignTest, NameAndControllerDecide) {
  using Edit = std::function<void(ClusterRole&)>;
  const Edit no_labels = [](ClusterRole& r) { r.mutable_metadata()->clear_labels(); };
  const Edit no_owner = [](ClusterRole& r) { r.mutable_metadata()->clear_ownerreferences(); };
  const struct {
    const char* name;
    Edit edit;
    const char* want;
  } rows[] = {
      {"as made", [](ClusterRole&) {}, ""},
      {"no labels", no_labels, ""},
      {"no owner", no_owner, ""},
      {"neither",
       [&](ClusterRole& r) {
         no_labels(r);
         no_owner(r);
       },
       "it has neither an owner reference nor the label of this ScopeTemplate"},
      {"another controller",
       [](ClusterRole& r) {
         SetController(r, "other");
         r.mutable_metadata()->mutable_ownerreferences(0)->set_name("hold");
       },
       "its controller is ScopeTemplate \"hold\""},
  };
  for (const auto& row : rows) {
    for (const char* generate_name : {"reader-", "reader"}) {
      ClusterRole role = Made(generate_name);
      row.edit(role);
      EXPECT_EQ(WhyForeign(role, kUid), row.want) << row.name;
    }
  }
}

// Others can forge a label and a reference, but not a name of the template's UID.
TEST(WhyForeignTest, AForgedLabelMakesNoRoleOurs) {
  for (const char* name : {"cluster-admin", "scope-template:cluster-admin", "reader",
                           "scope-template:reader", "scope-template:reader-bcdfghjklm"}) {
    ClusterRole renamed = Made("reader");
    renamed.mutable_metadata()->set_name(name);
    EXPECT_EQ(WhyForeign(renamed, kUid), "its name is not one that this ScopeTemplate generates");
  }
}

TEST(ClusterRoleDifferenceTest, LabelsAreExactAndAnnotationsFree) {
  const ClusterRole desired = Made("reader-");
  ClusterRole actual = desired;
  (*actual.mutable_metadata()->mutable_annotations())["a"] = "b";
  actual.mutable_metadata()->add_ownerreferences()->set_uid("another owner");
  EXPECT_EQ(Difference(desired, actual), "");
  (*actual.mutable_metadata()->mutable_labels())["team"] = "a";
  EXPECT_EQ(Difference(desired, actual), "label team");
  actual.add_rules();
  EXPECT_EQ(Difference(desired, actual), "rules");
}

rbacv1::PolicyRule PodsRule() {
  rbacv1::PolicyRule rule;
  rule.add_apigroups("");
  rule.add_resources("pods");
  rule.add_verbs("get");
  return rule;
}

TEST(GrantsMoreTest, ComparesEqualRulesAndPositions) {
  using Edit = std::function<void(rbacv1::PolicyRule&)>;
  const std::pair<const char*, Edit> narrowed[] = {
      {"a verb", [](auto& rule) { rule.set_verbs(0, "list"); }},
      {"a group", [](auto& rule) { rule.set_apigroups(0, "apps"); }},
      {"a resource", [](auto& rule) { rule.set_resources(0, "nodes"); }},
      {"names", [](auto& rule) { rule.add_resourcenames("a"); }},
      {"a path",
       [](auto& rule) {
         rule.Clear();
         rule.add_verbs("get");
       }},
  };
  const std::pair<const char*, Edit> widened[] = {
      {"nothing", [](auto&) {}},
      {"a verb", [](auto& rule) { rule.add_verbs("list"); }},
      {"all verbs", [](auto& rule) { rule.set_verbs(0, "*"); }},
      {"a group", [](auto& rule) { rule.add_apigroups("apps"); }},
      {"a resource", [](auto& rule) { rule.add_resources("nodes"); }},
      {"a path", [](auto& rule) { rule.add_nonresourceurls("/healthz"); }},
  };
  ClusterRole actual;
  *actual.add_rules() = PodsRule();
  for (const auto& [name, edit] : narrowed) {
    ClusterRole desired = actual;
    edit(*desired.mutable_rules(0));
    EXPECT_TRUE(GrantsMore(actual, desired)) << name;
  }
  for (const auto& [name, edit] : widened) {
    ClusterRole desired = actual;
    edit(*desired.mutable_rules(0));
    EXPECT_FALSE(GrantsMore(actual, desired)) << name;
  }
  ClusterRole urls = actual;
  urls.mutable_rules(0)->add_nonresourceurls("/healthz");
  EXPECT_TRUE(GrantsMore(urls, actual));
}

TEST(GrantsMoreTest, NamesAreWithinMoreNamesAndWithinAll) {
  ClusterRole one, two, all;
  *all.add_rules() = PodsRule();
  one = two = all;
  one.mutable_rules(0)->add_resourcenames("a");
  for (const char* name : {"a", "b"}) two.mutable_rules(0)->add_resourcenames(name);
  EXPECT_FALSE(GrantsMore(one, two));
  EXPECT_FALSE(GrantsMore(two, all));
  EXPECT_TRUE(GrantsMore(two, one));
  EXPECT_TRUE(GrantsMore(all, two));
}

TEST(GrantsMoreTest, AsteriskInResourceNamesIsOneName) {
  ClusterRole one, asterisk;
  *one.add_rules() = PodsRule();
  asterisk = one;
  one.mutable_rules(0)->add_resourcenames("a");
  asterisk.mutable_rules(0)->add_resourcenames("*");
  EXPECT_TRUE(GrantsMore(one, asterisk));
}

TEST(GrantsMoreTest, OfSeveralRules) {
  ClusterRole pods, none, both;
  *pods.add_rules() = PodsRule();
  both = pods;
  both.add_rules()->add_verbs("list");
  ClusterRole turned = both;
  turned.mutable_rules()->SwapElements(0, 1);
  EXPECT_TRUE(GrantsMore(pods, none));
  EXPECT_FALSE(GrantsMore(none, pods));
  EXPECT_TRUE(GrantsMore(both, pods));
  EXPECT_FALSE(GrantsMore(pods, both));
  EXPECT_FALSE(GrantsMore(both, turned));
}

TEST(GrantsMoreTest, LabelsAddARoleToAnother) {
  ClusterRole desired = Made("reader-");
  ClusterRole labelled = desired, aggregating = desired, bare = desired;
  (*labelled.mutable_metadata()->mutable_labels())["team"] = "a";
  aggregating.mutable_aggregationrule();
  bare.mutable_metadata()->clear_labels();
  EXPECT_TRUE(GrantsMore(labelled, desired));
  EXPECT_TRUE(GrantsMore(aggregating, desired));
  EXPECT_FALSE(GrantsMore(bare, desired));
}

rbacv1::PolicyRule Rule(const std::vector<std::string>& verbs,
                        const std::vector<std::string>& resources,
                        const std::vector<std::string>& names = {}) {
  rbacv1::PolicyRule rule;
  rule.add_apigroups("");
  for (const auto& verb : verbs) rule.add_verbs(verb);
  for (const auto& resource : resources) rule.add_resources(resource);
  for (const auto& name : names) rule.add_resourcenames(name);
  return rule;
}

TEST(WithoutNewRulesTest, KeepsCommonPermissions) {
  rbacv1::PolicyRule url, urls;
  url.add_verbs("get");
  url.add_nonresourceurls("/healthz");
  urls = url;
  urls.add_nonresourceurls("/metrics");
  const auto pods = Rule({"get"}, {"pods"});
  const struct {
    rbacv1::PolicyRule desired, actual;
    std::optional<rbacv1::PolicyRule> kept;
  } cases[] = {
      {pods, pods, pods},
      {pods, Rule({"*"}, {"*"}), pods},
      {Rule({"*"}, {"*"}), pods, pods},
      {Rule({"get", "watch"}, {"pods", "nodes"}), Rule({"list", "get"}, {"secrets", "pods"}), pods},
      {Rule({"list"}, {"pods"}), pods, std::nullopt},
      {Rule({"get"}, {"nodes"}), pods, std::nullopt},
      {Rule({"get"}, {"pods"}, {"a"}), pods, Rule({"get"}, {"pods"}, {"a"})},
      {pods, Rule({"get"}, {"pods"}, {"a"}), Rule({"get"}, {"pods"}, {"a"})},
      {Rule({"get"}, {"pods"}, {"a", "b"}), Rule({"get"}, {"pods"}, {"b", "c"}),
       Rule({"get"}, {"pods"}, {"b"})},
      {Rule({"get"}, {"pods"}, {"a"}), Rule({"get"}, {"pods"}, {"*"}), std::nullopt},
      {urls, url, url},
      {url, pods, std::nullopt},
  };
  for (size_t i = 0; i < std::size(cases); ++i) {
    SCOPED_TRACE(i);
    ClusterRole desired = Made("reader-"), actual = desired;
    desired.mutable_rules()->Clear();
    actual.mutable_rules()->Clear();
    *desired.add_rules() = cases[i].desired;
    *actual.add_rules() = cases[i].actual;
    const ClusterRole fewer = WithoutNewRules(desired, actual);
    ASSERT_EQ(fewer.rules_size(), cases[i].kept.has_value() ? 1 : 0);
    if (cases[i].kept.has_value()) {
      EXPECT_EQ(fewer.rules(0).DebugString(), cases[i].kept->DebugString());
    }
    EXPECT_EQ(fewer.metadata().DebugString(), desired.metadata().DebugString());
  }
}

TEST(WithoutNewRulesTest, ManyRulesAreComparedInTheirPlaces) {
  ClusterRole desired, actual;
  for (int i = 0; i < 1000; ++i) {
    *actual.add_rules() = Rule({"get", "list"}, {"r" + std::to_string(i)});
    *desired.add_rules() = Rule({"get", "watch"}, {"r" + std::to_string(i)});
  }
  desired.mutable_rules()->SwapElements(0, 1);
  const ClusterRole fewer = WithoutNewRules(desired, actual);
  ASSERT_EQ(fewer.rules_size(), 998);
  EXPECT_EQ(fewer.rules(0).DebugString(), Rule({"get"}, {"r2"}).DebugString());
}

// One rule is inserted before many: the positions of the others change.
TEST(WithoutNewRulesTest, ManyRulesThatAreTheSameAreKept) {
  ClusterRole desired, actual;
  *desired.add_rules() = Rule({"get"}, {"secrets"});
  for (int i = 0; i < 150; ++i) {
    *actual.add_rules() = Rule({"get"}, {"r" + std::to_string(i)});
    *desired.add_rules() = actual.rules(i);
  }
  EXPECT_EQ(WithoutNewRules(desired, actual).rules_size(), 150);
  EXPECT_TRUE(HasNewRules(desired, actual));
  desired.mutable_rules()->DeleteSubrange(0, 2);
  EXPECT_FALSE(HasNewRules(desired, actual));
}

TEST(WithoutNewRulesTest, FewRulesAreFoundWhereverTheyAre) {
  ClusterRole desired, actual;
  *actual.add_rules() = Rule({"get"}, {"pods"});
  *actual.add_rules() = Rule({"get"}, {"nodes"});
  *desired.add_rules() = Rule({"get", "list"}, {"nodes"});
  *desired.add_rules() = Rule({"get"}, {"pods"});
  *desired.add_rules() = Rule({"get"}, {"*"});
  const ClusterRole fewer = WithoutNewRules(desired, actual);
  ASSERT_EQ(fewer.rules_size(), 2) << "none twice";
  EXPECT_EQ(fewer.rules(0).DebugString(), Rule({"get"}, {"pods"}).DebugString());
  EXPECT_EQ(fewer.rules(1).DebugString(), Rule({"get"}, {"nodes"}).DebugString());
}

TEST(WithoutNewRulesTest, ARuleMayHaveVeryManyResources) {
  const auto resources = [](int first) {
    ClusterRole role;
    auto& rule = *role.add_rules();
    rule.add_verbs("get");
    rule.add_apigroups("");
    for (int i = first; i < first + 50'000; ++i) rule.add_resources(StrCat("r", i));
    return role;
  };
  const ClusterRole result = WithoutNewRules(resources(1), resources(0));
  ASSERT_EQ(result.rules_size(), 1);
  EXPECT_EQ(result.rules(0).resources_size(), 49'999);
}

// Otherwise a role that waits for its new rules would be written repeatedly.
TEST(WithoutNewRulesTest, SecondCallChangesNothing) {
  ClusterRole desired, actual;
  *desired.add_rules() = Rule({"get"}, {"secrets"});
  *desired.add_rules() = Rule({"get", "list"}, {"pods"});
  *desired.add_rules() = Rule({"list", "watch"}, {"pods", "nodes"});
  *actual.add_rules() = Rule({"get", "list", "watch", "delete"}, {"pods"});
  *actual.add_rules() = Rule({"watch"}, {"nodes"});
  const ClusterRole fewer = WithoutNewRules(desired, actual);
  ASSERT_EQ(fewer.rules_size(), 3);
  EXPECT_EQ(WithoutNewRules(desired, fewer).DebugString(), fewer.DebugString());
}

TEST(HasNewRulesTest, RuleWithinAnExistingOneIsNotNew) {
  const auto of = [](const std::vector<rbacv1::PolicyRule>& rules) {
    ClusterRole role;
    for (const auto& rule : rules) *role.add_rules() = rule;
    return role;
  };
  const auto pods = Rule({"get"}, {"pods"}), nodes = Rule({"get"}, {"nodes"});
  EXPECT_FALSE(HasNewRules(of({}), of({})));
  EXPECT_FALSE(HasNewRules(of({}), of({pods})));
  EXPECT_TRUE(HasNewRules(of({pods}), of({})));
  EXPECT_FALSE(HasNewRules(of({pods, nodes}), of({nodes, pods})));
  EXPECT_FALSE(HasNewRules(of({nodes}), of({pods, Rule({"get", "list"}, {"nodes"})})));
  EXPECT_TRUE(HasNewRules(of({pods, nodes}), of({pods})));
  EXPECT_TRUE(HasNewRules(of({Rule({"get", "list"}, {"pods"})}), of({pods})));
  EXPECT_TRUE(HasNewRules(of({pods}), of({Rule({"get"}, {"pods"}, {"a"})})));
}

}  // namespace
}  // namespace mandate::scope
