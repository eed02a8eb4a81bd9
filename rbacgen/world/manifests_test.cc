#include "rbacgen/world/manifests.h"

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rbacgen/world/testing_worlds.h"

namespace mandate::rbacgen {
namespace {

using testing::HasSubstr;

constexpr char kYaml[] = R"(
apiVersion: v1
kind: ServiceAccount
metadata: {name: sa, namespace: ns}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: other}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: r}
rules:
- apiGroups: [""]
  resources: [pods]
  resourceNames: [web]
  verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: part, labels: {agg: "true"}}
rules: [{nonResourceURLs: [/metrics], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: whole}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {agg: "true"}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: b, namespace: ns}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: r}
subjects: [{kind: ServiceAccount, name: there, namespace: elsewhere}, {kind: User, name: ann}]
)";

TEST(ReadManifests, ReadsRbacObjectsAndServiceAccounts) {
  const World world = WorldOf(kYaml);
  ASSERT_EQ(world.policy.roles.size(), 1);
  EXPECT_EQ(world.policy.roles[0].ns, "default");
  EXPECT_EQ(world.policy.roles[0].rules[0], (rbac::Rule{{"get"}, {""}, {"pods"}, {"web"}, {}}));
  ASSERT_EQ(world.policy.cluster_roles.size(), 2);
  EXPECT_EQ(world.policy.cluster_roles[1].rules, world.policy.cluster_roles[0].rules);
  ASSERT_EQ(world.policy.role_bindings.size(), 1);
  EXPECT_EQ(world.policy.role_bindings[0].role_ref.name, "r");
  EXPECT_TRUE(world.accounts.contains({"ns", "sa"}));
  EXPECT_TRUE(world.accounts.contains({"elsewhere", "there"}));
}

TEST(ReadManifests, AggregatesAcrossFilesAndTransitively) {
  const auto role = [](const std::string& name, const std::string& labels,
                       const std::string& selects, const std::string& rules) {
    return "---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: " +
           name + ", labels: {" + labels + "}}, aggregationRule: {clusterRoleSelectors: [" +
           selects + "]}, rules: [" + rules + "]}\n";
  };
  const auto selects = [](const std::string& to) {
    return "{matchLabels: {to-" + to + ": 'true'}}";
  };
  const auto rule = [](const std::string& verb) {
    return "{apiGroups: [''], resources: [pods], verbs: [" + verb + "]}";
  };
  // Each role selects the next one, which is in another file.
  const std::string files[] = {role("admin", "to-view: 'true'", selects("admin"), rule("delete")),
                               role("edit", "to-admin: 'true'", selects("edit"), ""),
                               role("view", "to-edit: 'true'", selects("view"), ""),
                               role("part", "to-view: 'true'", "", rule("get")),
                               role("other", "to-none: 'true'", "", rule("list"))};
  World world;
  for (const std::string& file : files) {
    auto its = ReadManifests("file", file, "default");
    ASSERT_TRUE(its.ok()) << its.status();
    Merge(*std::move(its), &world);
  }
  ResolveAggregates(&world);
  std::map<std::string, std::set<std::string>> verbs;
  for (const rbac::ClusterRole& r : world.policy.cluster_roles) {
    for (const rbac::Rule& its : r.rules) verbs[r.name].insert(its.verbs[0]);
  }
  // These roles select each other in a circle; resolving them must end.
  const std::set<std::string> both = {"delete", "get"};
  EXPECT_EQ(verbs["admin"], both);
  EXPECT_EQ(verbs["edit"], both);
  EXPECT_EQ(verbs["view"], both);
  EXPECT_EQ(verbs["part"], std::set<std::string>{"get"});
}

TEST(ReadManifests, ReadsAListInJson) {
  const World world = WorldOf(R"({"kind":"List","apiVersion":"v1","items":[
    {"kind":"ClusterRoleBinding","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"b"},
     "roleRef":{"kind":"ClusterRole","name":"r"},"subjects":[{"kind":"Group","name":"g"}]},
    {"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"r"},
     "rules":null}]})");
  ASSERT_EQ(world.policy.cluster_role_bindings.size(), 1);
  EXPECT_EQ(world.policy.cluster_role_bindings[0].subjects[0].name, "g");
  EXPECT_EQ(world.policy.cluster_roles.size(), 1);
}

// `jq .items` of a list prints an array.
TEST(ReadManifests, ReadsTheItemsOfAnArray) {
  constexpr char kJson[] = R"([
    {"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"a"}},
    {"kind":"List","items":[
      {"kind":"ClusterRole","apiVersion":"rbac.authorization.k8s.io/v1","metadata":{"name":"b"}}]}
  ])";
  constexpr char kItems[] = R"(
- kind: ClusterRole
  apiVersion: rbac.authorization.k8s.io/v1
  metadata: {name: a}
- - kind: ClusterRole
    apiVersion: rbac.authorization.k8s.io/v1
    metadata: {name: b}
)";
  for (const char* text : {kJson, kItems}) {
    const World world = WorldOf(text);
    ASSERT_EQ(world.policy.cluster_roles.size(), 2u) << text;
    EXPECT_EQ(world.policy.cluster_roles[1].name, "b") << text;
  }
}

TEST(ReadManifests, KeepsAllObjectsWithGeneratedNames) {
  World world = WorldOf(R"(
- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {generateName: b-},
   roleRef: {kind: ClusterRole, name: sum}, subjects: [{kind: User, name: ann}]}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRoleBinding, metadata: {generateName: b-},
   roleRef: {kind: ClusterRole, name: sum}, subjects: [{kind: User, name: bob}]}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: sum},
   aggregationRule: {clusterRoleSelectors: [{matchLabels: {k: a}}, {matchLabels: {k: b}}]}}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole,
   metadata: {generateName: r-, labels: {k: a}},
   rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]}
- {apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole,
   metadata: {generateName: r-, labels: {k: b}},
   rules: [{apiGroups: [''], resources: [nodes], verbs: [get]}]}
- {apiVersion: v1, kind: ServiceAccount, metadata: {generateName: s-, namespace: shop}}
)");
  EXPECT_TRUE(RemoveRepeated(&world).empty());
  ASSERT_EQ(world.policy.cluster_role_bindings.size(), 2u);
  EXPECT_EQ(world.policy.cluster_role_bindings[0].name, "b-%");
  EXPECT_EQ(world.policy.cluster_roles[0].rules.size(), 2u);
  EXPECT_TRUE(world.accounts.empty());
}

TEST(ReadManifests, ReportsMistakesWithTheirPlace) {
  const auto broken = ReadManifests("x.yaml", "a: [\nb", "default");
  EXPECT_THAT(std::string(broken.status().message()), HasSubstr("x.yaml: line 2"));
  const auto helm = ReadManifests("x.yaml", "{{- if .Values.x }}\na: b\n", "default");
  EXPECT_THAT(std::string(helm.status().message()), HasSubstr("helm template"));
  EXPECT_TRUE(ReadManifests("x.yaml", "", "default").ok());
}

// The rest of a binding of admin to ann, from `metadata` on.
constexpr std::string_view kRest =
    "\"metadata\":{\"name\":\"b\"},\"roleRef\":{\"kind\":\"ClusterRole\",\"name\":\"admin\"},"
    "\"subjects\":[{\"kind\":\"User\",\"name\":\"ann\"}]";

std::string Binding(std::string_view lead =
                        "\"apiVersion\":\"rbac.authorization.k8s.io/v1\","
                        "\"kind\":\"ClusterRoleBinding\",") {
  return "{" + std::string(lead) + std::string(kRest) + "}";
}

constexpr std::string_view kOther = "{\"apiVersion\":\"v1\",\"kind\":\"Pod\"}";

// `kubectl apply` creates the binding from each of these texts.
TEST(ReadManifests, FindsTheObjectsThatKubectlFinds) {
  const std::string other(kOther);
  const std::string typed =
      "{\"kind\":\"ClusterRoleBindingList\",\"apiVersion\":\"rbac.authorization.k8s.io/v1\",";
  const std::string kTexts[] = {
      // Items in an object of any kind.
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\nitems:\n- " + Binding() + "\n",
      "{\"kind\":\"Bundle\",\"items\":[" + Binding() + "]}",
      // Items that get their kind from the list.
      typed + "\"items\":[" + Binding("") + "]}",
      "a: &a\n- " + Binding("") + "\n" +
          "kind: ClusterRoleBinding\napiVersion: rbac.authorization.k8s.io/v1\nitems: *a\n",
      // A byte order mark at the beginning of a later document.
      other + "\n---\n\xEF\xBB\xBF" +
          "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\n" +
          "metadata: {name: b}\nroleRef: {kind: ClusterRole, name: admin}\n" +
          "subjects: [{kind: User, name: ann}]\n",
      "--- # a comment\n# another\n---\n\xEF\xBB\xBF" + Binding(),
      // JSON documents, also with null between them or YAML after them.
      other + "\nnull\n" + Binding(),
      other + Binding() + other,
      "\n" + other + "\n---\n" + other + "\n---\n" + Binding(),
      other + "\n---\n# nothing\n---\n\n---\n~\n---\nnull\n--- # x\n" + Binding(),
      "[null, " + Binding() + "]",
      // Base64.
      Binding("\"apiVersion\": rbac.authorization.k8s.io/v1, \"kind\": "
              "!!binary Q2x1c3RlclJvbGVCaW5kaW5n, "),
      Binding("\"apiVersion\": rbac.authorization.k8s.io/v1, !!binary a2luZA==: "
              "ClusterRoleBinding, "),
      // Line breaks of YAML 1.1, which end a comment.
      "# x\xC2\x85" + Binding(),
      "# x\xE2\x80\xA8" + Binding(),
      "# x\r" + Binding(),
      // The end marker of a document.
      Binding() + "\n...\n---\n" + other,
  };
  for (const std::string& text : kTexts) {
    const auto world = ReadManifests("x.yaml", text, "default");
    ASSERT_TRUE(world.ok()) << text << ": " << world.status();
    ASSERT_EQ(world->policy.cluster_role_bindings.size(), 1u) << text;
    EXPECT_EQ(world->policy.cluster_role_bindings[0].role_ref.name, "admin") << text;
    EXPECT_EQ(world->policy.cluster_role_bindings[0].subjects[0].name, "ann") << text;
  }
}

// For kubectl, a list without items has no object, and is itself not an object.
TEST(ReadManifests, AListWithoutItemsHasNoObject) {
  for (const char* items : {"[]", "null", "[null]"}) {
    std::string text = Binding();
    text.insert(1, std::string("\"items\":") + items + ",");
    EXPECT_TRUE(WorldOf(text).policy.cluster_role_bindings.empty()) << text;
  }
}

TEST(ReadManifests, RejectsTextThatKubectlCannotRead) {
  const std::string other(kOther);
  const struct {
    std::string text;
    const char* message;
  } kCases[] = {
      {other + "\nxx\n" + Binding(), "x.yaml: line 2: this is not an object"},
      {other + "\n5\n" + Binding(), "x.yaml: line 2: this is not an object"},
      {other + "]\n" + Binding(), "x.yaml: line 1: illegal flow end"},
      {other + "\n---\nxx\n", "x.yaml: line 3: this is not an object"},
      {"metadata: {}\nspec: 1\n", "x.yaml: line 1: this object has no kind"},
      {"kind: 'x'\n", "x.yaml: line 1: this object has no apiVersion"},
      {"{\"kind\":5,\"apiVersion\":\"v1\"}", "x.yaml: line 1: this object has no kind"},
      {other + "\n---\n# x\n{}\n", "x.yaml: line 4: this object has no kind"},
      {"kind: List\nitems: [null, x]\n", "x.yaml: line 1: item 1: this is not an object"},
      {"kind: List\nitems: [{metadata: {name: x}}]\n",
       "x.yaml: line 1: item 0: this object has no kind"},
      {"kind: PodList\napiVersion: v1\nitems: [{kind: Pod}]\n",
       "x.yaml: line 1: item 0: this object has no apiVersion"},
      {"[[x]]", "x.yaml: line 1: item 0: item 0: this is not an object"},
      {"kind: Pod\napiVersion: v1\nitems: {}\n", "x.yaml: line 1: the items are not a list"},
      {"kind: !!binary x.\n", "x.yaml: line 1: the value of !!binary is not base64"},
      {other + "\n---\nkind: Pod\nx: !y z\n", "x.yaml: line 4: the tag !y is not supported"},
      {"kind: Pod\nx: !!set {a}\n",
       "x.yaml: line 2: the tag tag:yaml.org,2002:set is not supported"},
      // kubectl skips a second document without an error.
      {"# x\nkind: Pod\napiVersion: v1\n...\nkind: Pod\n", "x.yaml: line 5: text follows"},
      {"---\n" + other + "\n" + Binding(), "x.yaml: line 3: text follows the document"},
      {other + "\n---\n# x\n\x04\n" + Binding(), "x.yaml: line 4: the text must be UTF-8"},
      {other + std::string("\n---\n\0:\n", 8) + Binding(),
       "x.yaml: line 3: the text must be UTF-8"},
      // YAML::LoadAll() loops forever on these texts.
      {",", "x.yaml: line 1: text follows the document"},
      {other + ",\n" + Binding(), "x.yaml: line 1: text follows the document"},
      {other + "\n---\n,", "x.yaml: line 3: text follows the document"},
  };
  for (const auto& c : kCases) {
    EXPECT_THAT(std::string(ReadManifests("x.yaml", c.text, "default").status().message()),
                HasSubstr(c.message))
        << c.text;
  }
}

// kubebuilder puts such files into the folders of its manifests.
TEST(ReadManifests, SkipsAKustomization) {
  constexpr char kText[] = "resources:\n- role.yaml\n";
  EXPECT_TRUE(ReadManifests("config/rbac/kustomization.yaml", kText, "default").ok());
  EXPECT_FALSE(ReadManifests("config/rbac/role.yaml", kText, "default").ok());
}

TEST(ReadManifests, CountsLinesAcrossDocuments) {
  EXPECT_THAT(std::string(ReadManifests("x.yaml",
                                        "{\"kind\":\"Pod\",\n\"apiVersion\":\"v1\"}\n\n"
                                        "---\n---\n# c\n---\nkind: [\n",
                                        "default")
                              .status()
                              .message()),
              HasSubstr("x.yaml: line 9: end of sequence flow not found"));
}

// The expected results are those of `kubectl annotate --local -o json -f FILE a=b`.
TEST(ReadManifests, MergesAsKubectlDoes) {
  const auto rule = [](const std::string& yaml) {
    return ReadManifests("x.yaml",
                         "kind: ClusterRole\napiVersion: rbac.authorization.k8s.io/v1\n"
                         "metadata: {name: a}\n"
                         "x: &x {apiGroups: [''], resources: [pods], verbs: [list]}\n"
                         "z: &z {resources: [secrets], verbs: [watch], resourceNames: [web]}\n"
                         "l: &l [*x, *z]\n"
                         "rules:\n- " +
                             yaml + "\n",
                         "default");
  };
  const struct {
    const char* yaml;
    rbac::Rule want;
  } kCases[] = {
      {"{<<: *x}", {{"list"}, {""}, {"pods"}, {}, {}}},
      {"{<<: *x, verbs: [get]}", {{"get"}, {""}, {"pods"}, {}, {}}},
      {"{verbs: [get], <<: *x}", {{"list"}, {""}, {"pods"}, {}, {}}},
      {"{<<: [*x, *z]}", {{"list"}, {""}, {"pods"}, {"web"}, {}}},
      {"{<<: *x, <<: *z}", {{"watch"}, {""}, {"secrets"}, {"web"}, {}}},
      {"{<<: {<<: *x, verbs: [get]}}", {{"get"}, {""}, {"pods"}, {}, {}}},
      {"{<<: []}", {}},
      {"{\"<<\": *x}", {}},
  };
  for (const auto& c : kCases) {
    const auto world = rule(c.yaml);
    ASSERT_TRUE(world.ok()) << c.yaml << ": " << world.status();
    ASSERT_EQ(world->policy.cluster_roles[0].rules.size(), 1u) << c.yaml;
    EXPECT_EQ(world->policy.cluster_roles[0].rules[0], c.want) << c.yaml;
  }
  for (const char* wrong : {"{<<: x}", "{<<: [*x, y]}", "{<<: [[*x]]}", "{<<: }"}) {
    EXPECT_THAT(std::string(rule(wrong).status().message()),
                HasSubstr("x.yaml: line 8: the merge key << needs a map or a list of maps"))
        << wrong;
  }
}

TEST(ReadManifests, MergesAreBounded) {
  std::string yaml = "a: &a {k: v}\n";
  for (char c = 'b'; c < 'z'; ++c) {
    const std::string last(1, c - 1), its(1, c);
    yaml += its + ": &" + its + " {p: {<<: *" + last + "}, q: {<<: *" + last + "}}\n";
  }
  EXPECT_THAT(std::string(ReadManifests("x.yaml", yaml, "default").status().message()),
              HasSubstr("its aliases stand for more than 1000000 values"));
  EXPECT_THAT(
      std::string(ReadManifests("x.yaml", "a: &a {<<: *a}\n", "default").status().message()),
      HasSubstr("nested too deep"));
}

TEST(ReadManifests, DepthIsBounded) {
  const auto read = [](std::string_view open, std::string_view close, int depth) {
    std::string yaml =
        "kind: ClusterRole\napiVersion: rbac.authorization.k8s.io/v1\nmetadata: {name: a}\nx: ";
    for (int i = 0; i < depth; ++i) yaml += open;
    yaml += "y";
    for (int i = 0; i < depth; ++i) yaml += close;
    return ReadManifests("x.yaml", yaml + "\n", "default").status();
  };
  EXPECT_TRUE(read("[", "]", 60).ok()) << read("[", "]", 60);
  EXPECT_TRUE(read("{a: ", "}", 60).ok()) << read("{a: ", "}", 60);
  EXPECT_THAT(std::string(read("[", "]", 70).message()), HasSubstr("nested too deep"));
  EXPECT_THAT(std::string(read("{a: ", "}", 70).message()), HasSubstr("nested too deep"));
}

}  // namespace
}  // namespace mandate::rbacgen
