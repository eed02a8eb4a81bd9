#include "webhooks/scope/grants.h"

#include <gtest/gtest.h>

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "controllers/scope/testing_objects.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;

constexpr std::string_view kPods = R"({"apiGroups":[""],"resources":["pods"],"verbs":["get"]})";
constexpr std::string_view kSecrets =
    R"({"apiGroups":[""],"resources":["secrets"],"verbs":["get"]})";
constexpr std::string_view kAnn = R"({"kind":"User","name":"ann"})";
constexpr std::string_view kBob = R"({"kind":"User","name":"bob"})";

struct RoleText {
  std::string_view name = "a-";
  std::vector<std::string_view> rules = {kPods};
  std::vector<std::string_view> subjects = {kAnn};
};

ScopeTemplate Template(const std::vector<RoleText>& roles) {
  std::string text;
  for (const RoleText& role : roles) {
    StrAppend(&text, text.empty() ? "" : ",", R"({"generateName":")", role.name, R"(","rules":[)",
              absl::StrJoin(role.rules, ",",
                            [](std::string* out, std::string_view s) { out->append(s); }),
              R"(],"subjects":[)",
              absl::StrJoin(role.subjects, ",",
                            [](std::string* out, std::string_view s) { out->append(s); }),
              "]}");
  }
  return FromJsonOrDie<ScopeTemplate>(
      StrCat(R"({"metadata":{"name":"foo","uid":"u"},"spec":{"clusterRoles":[)", text, "]}}"));
}

// Each requirement as "escalate a-: get pods" or "bind a- in foo: get pods".
std::string Text(const absl::StatusOr<std::vector<Requirement>>& requirements) {
  if (!requirements.ok()) return requirements.status().ToString();
  std::vector<std::string> lines;
  for (const Requirement& r : *requirements) {
    const size_t quote = r.what.find('"');
    const std::string role =
        r.only_shortcut ? "any" : r.what.substr(quote + 1, r.what.find('"', quote + 1) - quote - 1);
    std::string line = StrCat(r.shortcut.rule.verbs[0], " ", role);
    if (r.shortcut.rule.verbs[0] == "bind") {
      StrAppend(&line, " in ", r.shortcut.ns.empty() ? "cluster" : r.shortcut.ns);
    }
    std::vector<std::string> rights;
    for (const AccessQuestion& right : r.rights) {
      EXPECT_EQ(right.ns, r.shortcut.ns);
      rights.push_back(StrCat(right.rule.verbs[0], " ",
                              right.rule.resources.empty() ? right.rule.non_resource_urls[0]
                                                           : right.rule.resources[0]));
    }
    lines.push_back(StrCat(line, ": ", absl::StrJoin(rights, ",")));
  }
  return absl::StrJoin(lines, "; ");
}

TEST(GrantsOfTemplate, AreNewRulesAndNewSubjectsWhereInstancesBind) {
  const ScopeInstance in_foo = DocumentInstance(R"("namespaces":["foo"])");
  const ScopeInstance in_bar = DocumentInstance(R"("namespaces":["bar","foo"])");
  const ScopeInstance selects = DocumentInstance(R"("namespaces":["bar"],"namespaceSelector":{})");
  const ScopeInstance everywhere = DocumentInstance();
  const ScopeTemplate a = Template({{}});
  const struct {
    const char* name;
    const ScopeTemplate* old;
    ScopeTemplate now;
    std::vector<ScopeInstance> instances;
    const char* want;
  } kCases[] = {
      {"a new template without instances", nullptr, a, {}, "escalate a-: get pods"},
      {"a new template with an instance that waits for it",
       nullptr,
       a,
       {in_foo},
       "escalate a-: get pods; bind a- in foo: get pods"},
      {"each namespace once",
       nullptr,
       a,
       {in_foo, in_bar},
       "escalate a-: get pods; bind a- in bar: get pods; bind a- in foo: get pods"},
      {"a selector is the whole cluster",
       nullptr,
       a,
       {in_foo, selects},
       "escalate a-: get pods; bind a- in cluster: get pods"},
      {"no namespaces is the whole cluster",
       nullptr,
       a,
       {everywhere, in_foo},
       "escalate a-: get pods; bind a- in cluster: get pods"},
      {"no change", &a, a, {everywhere}, ""},
      {"a new rule",
       &a,
       Template({{.rules = {kPods, kSecrets}}}),
       {in_foo},
       "escalate a-: get pods,get secrets"},
      {"a rule twice", &a, Template({{.rules = {kPods, kPods}}}), {in_foo}, ""},
      {"a new subject",
       &a,
       Template({{.subjects = {kAnn, kBob}}}),
       {in_foo},
       "escalate a-: get pods; bind a- in foo: get pods"},
      {"another subject without instances",
       &a,
       Template({{.subjects = {kBob}}}),
       {},
       "escalate a-: get pods"},
      {"a new role",
       &a,
       Template({{}, {.name = "b-", .rules = {kSecrets}}}),
       {in_foo},
       "escalate b-: get secrets; bind b- in foo: get secrets"},
      {"another name for the role", &a, Template({{.name = "b-"}}), {}, "escalate b-: get pods"},
      {"fewer rules", &a, Template({{.rules = {}}}), {in_foo}, ""},
      {"no roles", &a, Template({}), {everywhere}, ""},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Text(GrantsOfTemplate(c.old, c.now, c.instances, {})), c.want);
  }
}

// Roles that share their new subjects had different ones before.
TEST(GrantsOfTemplate, CompareEachRoleWithItsOwnOldSubjects) {
  const auto with_own = [](bool a, bool b) {
    const auto role = [](std::string_view name, bool own) {
      return StrCat(R"({"generateName":")", name, R"(","rules":[)", kPods, "]",
                    own ? StrCat(R"(,"subjects":[)", kAnn, "]") : "", "}");
    };
    return FromJsonOrDie<ScopeTemplate>(StrCat(
        R"({"metadata":{"name":"foo","uid":"u"},"spec":{"bindingTemplate":{"subjects":[)", kAnn,
        ",", kBob, R"(]},"clusterRoles":[)", role("a-", a), ",", role("b-", b), "]}}"));
  };
  const ScopeTemplate now = with_own(false, false);
  for (const bool a : {true, false}) {
    const ScopeTemplate old = with_own(a, !a);
    EXPECT_EQ(Text(GrantsOfTemplate(&old, now, {}, {})),
              a ? "escalate a-: get pods" : "escalate b-: get pods");
  }
}

TEST(GrantsOfTemplate, CountSubjectsInAllThreePlaces) {
  const auto of = [](std::string_view spec) {
    return FromJsonOrDie<ScopeTemplate>(
        StrCat(R"({"metadata":{"name":"foo","uid":"u"},"spec":)", spec, "}"));
  };
  const std::string role = StrCat(R"("generateName":"a-","rules":[)", kPods, "]");
  const ScopeTemplate old = of(
      StrCat(R"({"bindingTemplate":{"subjects":[)", kAnn, R"(]},"clusterRoles":[{)", role, "}]}"));
  const std::string more[] = {
      StrCat(R"({"bindingTemplate":{"subjects":[)", kAnn, ",", kBob, R"(]},"clusterRoles":[{)",
             role, "}]}"),
      StrCat(R"({"bindingTemplate":{"subjects":[)", kAnn, R"(]},"clusterRoles":[{)", role,
             R"(,"subjects":[)", kBob, "]}]}"),
      StrCat(R"({"bindingTemplate":{"subjects":[)", kAnn, R"(]},"clusterRoles":[{)", role,
             R"(,"bindingTemplate":{"subjects":[)", kBob, "]}}]}"),
  };
  for (const std::string& spec : more) {
    EXPECT_EQ(Text(GrantsOfTemplate(&old, of(spec), {DocumentInstance()}, {})),
              "escalate a-: get pods; bind a- in cluster: get pods")
        << spec;
  }
}

// A later write, perhaps by another user, decides what such a subject or instance gets.
TEST(Grants, OfRolesAndRulesToComeNeedBindOnEveryRole) {
  const auto of = [](std::string_view spec) {
    return FromJsonOrDie<ScopeTemplate>(
        StrCat(R"({"metadata":{"name":"foo","uid":"u"},"spec":)", spec, "}"));
  };
  const ScopeInstance in_foo = DocumentInstance(R"("namespaces":["foo"])");
  const ScopeTemplate empty = of("{}");
  const ScopeTemplate no_rules = Template({{.rules = {}}});
  EXPECT_EQ(Text(GrantsOfInstance(nullptr, in_foo, empty, {})), "bind any in foo: ");
  EXPECT_EQ(Text(GrantsOfInstance(nullptr, in_foo, no_rules, {})), "bind any in foo: ");
  EXPECT_EQ(
      Text(GrantsOfInstance(nullptr, in_foo, Template({{}, {.name = "b-", .rules = {}}}), {})),
      "bind a- in foo: get pods; bind any in foo: ");
  EXPECT_EQ(Text(GrantsOfTemplate(nullptr, empty, {}, {})), "") << "it has no subjects";
  const std::string ann = StrCat(R"("bindingTemplate":{"subjects":[)", kAnn, "]}");
  EXPECT_EQ(Text(GrantsOfTemplate(nullptr, of(StrCat("{", ann, "}")), {}, {})),
            "bind any in cluster: ");
  EXPECT_EQ(Text(GrantsOfTemplate(&no_rules, Template({{.rules = {}, .subjects = {kAnn, kBob}}}),
                                  {in_foo}, {})),
            "escalate a-: ; bind any in cluster: ; bind any in foo: ");
  // A role with subjects of its own gets those of the template when its last own one is removed.
  const std::string own = StrCat(R"("clusterRoles":[{"generateName":"a-","rules":[)", kPods,
                                 R"(],"subjects":[)", kBob, "]}]");
  const ScopeTemplate old = of(StrCat("{", own, "}"));
  EXPECT_EQ(Text(GrantsOfTemplate(&old, of(StrCat("{", ann, ",", own, "}")), {in_foo}, {})),
            "escalate a-: get pods; bind a- in foo: get pods");
}

TEST(GrantsOfInstance, AreTheRolesInNewNamespaces) {
  const ScopeTemplate a = Template({{.rules = {kPods, kSecrets}}});
  const auto of = [](std::string_view spec) { return DocumentInstance(spec); };
  const ScopeInstance foo = of(R"("namespaces":["foo"])");
  const ScopeInstance cluster = of("");
  const ScopeInstance label = of(R"("namespaceSelector":{"a":"b"})");
  const char* in_cluster = "bind a- in cluster: get pods,get secrets";
  const struct {
    const char* name;
    const ScopeInstance* old;
    ScopeInstance now;
    const char* want;
  } kCases[] = {
      {"named", nullptr, foo, "bind a- in foo: get pods,get secrets"},
      {"no namespaces", nullptr, cluster, in_cluster},
      {"a selector", nullptr, label, in_cluster},
      {"an empty selector", nullptr, of(R"("namespaceSelector":{})"), in_cluster},
      {"matchLabels null", nullptr, of(R"("namespaceSelector":{"matchLabels":null})"), in_cluster},
      {"NotIn", nullptr,
       of(R"("namespaceSelector":{"matchExpressions":[)"
          R"({"key":"a","operator":"NotIn","values":["b"]}]})"),
       in_cluster},
      {"DoesNotExist", nullptr,
       of(R"("namespaceSelector":{"matchExpressions":[{"key":"a","operator":"DoesNotExist"}]})"),
       in_cluster},
      {"an empty selector with a namespace", nullptr,
       of(R"("namespaces":["foo"],"namespaceSelector":{})"), in_cluster},
      {"an invalid selector", nullptr, of(R"("namespaceSelector":{"a":5})"), in_cluster},
      {"no change", &foo, foo, ""},
      {"one more", &foo, of(R"("namespaces":["bar","foo"])"),
       "bind a- in bar: get pods,get secrets"},
      {"another", &foo, of(R"("namespaces":["bar"])"), "bind a- in bar: get pods,get secrets"},
      {"the last one removed", &foo, cluster, in_cluster},
      {"a selector added", &foo, of(R"("namespaces":["foo"],"namespaceSelector":{"a":"b"})"),
       in_cluster},
      {"another selector", &label, of(R"("namespaceSelector":{"a":"c"})"), in_cluster},
      {"the selector removed", &label, cluster, in_cluster},
      {"the same selector and a namespace", &label,
       of(R"("namespaces":["foo"],"namespaceSelector":{"a":"b"})"),
       "bind a- in foo: get pods,get secrets"},
      {"from the cluster to a namespace", &cluster, foo, ""},
      {"from the cluster to a selector", &cluster, label, ""},
  };
  for (const auto& c : kCases) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(Text(GrantsOfInstance(c.old, c.now, a, {})), c.want);
  }
}

TEST(GrantsOfInstance, AnotherTemplateIsANewGrant) {
  const ScopeInstance old =
      FromJsonOrDie<ScopeInstance>(R"({"spec":{"scopeTemplateName":"other"}})");
  EXPECT_EQ(Text(GrantsOfInstance(&old, DocumentInstance(), Template({{}}), {})),
            "bind a- in cluster: get pods");
}

TEST(GrantsOfInstance, WithoutATemplateItsAuthorMustBindAnyRole) {
  EXPECT_EQ(Text(GrantsOfInstance(nullptr, DocumentInstance(R"("namespaces":["foo"])"),
                                  std::nullopt, {})),
            "bind any in foo: ");
  EXPECT_EQ(Text(GrantsOfInstance(nullptr, DocumentInstance(), std::nullopt, {})),
            "bind any in cluster: ");
}

// The rights of one rule are a product, and are not made before they are counted.
TEST(Grants, OfOneLargeRuleAreBounded) {
  ScopeTemplate large = Template({{}});
  auto& rule = *large.mutable_spec()->mutable_clusterroles(0)->mutable_rules(0);
  for (int i = 0; i < 10'000; ++i) {
    rule.add_verbs(StrCat("v", i));
    rule.add_resources(StrCat("r", i));
    rule.add_apigroups(StrCat("g", i));
    rule.add_resourcenames(StrCat("n", i));
  }
  const ScopeTemplate old = Template({{}});
  EXPECT_TRUE(absl::IsResourceExhausted(GrantsOfTemplate(nullptr, large, {}, {}).status()));
  EXPECT_TRUE(absl::IsResourceExhausted(GrantsOfTemplate(&old, large, {}, {}).status()));
  EXPECT_TRUE(
      absl::IsResourceExhausted(GrantsOfInstance(nullptr, DocumentInstance(), large, {}).status()));
  EXPECT_EQ(Text(GrantsOfTemplate(&large, large, {}, {})), "") << "nothing has changed";
  EXPECT_EQ(Text(GrantsOfTemplate(&large, old, {}, {})), "escalate a-: get pods")
      << "too many rights to compare";
}

TEST(Grants, MayNeedExactlyAsManyReviewsAsTheBound) {
  const ScopeInstance two = DocumentInstance(R"("namespaces":["bar","foo"])");
  // Each namespace needs the shortcut and one right.
  EXPECT_TRUE(GrantsOfInstance(nullptr, two, Template({{}}), {.max_reviews = 4}).ok());
  EXPECT_FALSE(GrantsOfInstance(nullptr, two, Template({{}}), {.max_reviews = 3}).ok());
  EXPECT_TRUE(GrantsOfInstance(nullptr, two, std::nullopt, {.max_reviews = 2}).ok());
  EXPECT_FALSE(GrantsOfInstance(nullptr, two, std::nullopt, {.max_reviews = 1}).ok());
}

// A template from before the webhook may be invalid. It may get other roles when it is corrected.
TEST(GrantsOfInstance, OfAnInvalidTemplateNeedBindOnEveryRole) {
  EXPECT_EQ(Text(GrantsOfInstance(nullptr, DocumentInstance(R"("namespaces":["foo"])"),
                                  Template({{}, {.rules = {kSecrets}}}), {})),
            "bind any in foo: ; bind a- in foo: get pods,get secrets");
}

TEST(Grants, EndWhenTheAnswerIsTooLate) {
  std::stop_source late;
  late.request_stop();
  const GrantOptions options{.stop = late.get_token()};
  const ScopeTemplate a = Template({{}});
  EXPECT_TRUE(absl::IsDeadlineExceeded(GrantsOfTemplate(nullptr, a, {}, options).status()));
  EXPECT_TRUE(
      absl::IsDeadlineExceeded(GrantsOfInstance(nullptr, DocumentInstance(), a, options).status()));
  const std::vector<ScopeInstance> instances = {DocumentInstance()};
  EXPECT_TRUE(absl::IsDeadlineExceeded(
      GrantsOfTemplate(nullptr, Template({}), instances, options).status()))
      << "there may be many instances, and no role";
}

TEST(Grants, AreBounded) {
  std::string namespaces;
  for (int i = 0; i < 10'000; ++i) {
    StrAppend(&namespaces, namespaces.empty() ? "" : ",", "\"n", i, "\"");
  }
  const ScopeInstance many = DocumentInstance(StrCat(R"("namespaces":[)", namespaces, "]"));
  const auto grants = GrantsOfInstance(nullptr, many, Template({{}}), {});
  EXPECT_TRUE(absl::IsResourceExhausted(grants.status()));
  EXPECT_NE(std::string(grants.status().message()).find("more than 1000 access reviews"),
            std::string::npos);
  EXPECT_TRUE(
      absl::IsResourceExhausted(GrantsOfTemplate(nullptr, Template({{}}), {many}, {}).status()));
  EXPECT_EQ(Text(GrantsOfInstance(nullptr, many, Template({{}}), {.may_bind = true})), "");
  EXPECT_EQ(Text(GrantsOfTemplate(nullptr, Template({{}}), {many}, {.may_bind = true})),
            "escalate a-: get pods");
  EXPECT_EQ(Text(GrantsOfTemplate(nullptr, Template({{}}), {many},
                                  {.may_escalate = true, .may_bind = true})),
            "");
}

}  // namespace
}  // namespace mandate::scope
