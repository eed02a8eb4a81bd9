#include "rbacgen/yaml/yaml.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace mandate::rbacgen {
namespace {

TEST(Yaml, SortsKeysAndDoesNotIndentLists) {
  const Yaml document = Yaml::Map{
      {"rules", Yaml::List{Yaml::Map{{"verbs", Yaml(std::vector<std::string>{"get", "*"})},
                                     {"apiGroups", Yaml(std::vector<std::string>{""})}},
                           Yaml::Map{{"verbs", Yaml()}}}},
      {"kind", "Role"},
      {"metadata", Yaml::Map{{"name", "x"}, {"labels", Yaml::Map{}}}},
      {"empty", Yaml::List{}},
      {"nested", Yaml::List{Yaml::List{Yaml("a"), Yaml("b")}, Yaml("c")}},
  };
  EXPECT_EQ(document.Write(),
            "empty: []\n"
            "kind: Role\n"
            "metadata:\n"
            "  labels: {}\n"
            "  name: x\n"
            "nested:\n"
            "- - a\n"
            "  - b\n"
            "- c\n"
            "rules:\n"
            "- apiGroups:\n"
            "  - \"\"\n"
            "  verbs:\n"
            "  - get\n"
            "  - '*'\n"
            "- verbs: null\n");
}

TEST(Yaml, BlocksEndWithOneLineFeed) {
  const Yaml document = Yaml::Map{{"a", "x\n"}, {"b", "y\nz"}, {"c", "w"}};
  EXPECT_EQ(document.Write(), "a: |\n  x\nb: |-\n  y\n  z\nc: w\n");
}

TEST(Yaml, EscapesStringsFromHelmButNotItsActions) {
  const Yaml document = Yaml::Map{{"namespace", Yaml::Verbatim("{{ .Release.Namespace }}")},
                                  {"text", "say {{ this }}"}};
  EXPECT_EQ(document.Write(Yaml::Flavor::kHelm),
            "namespace: {{ .Release.Namespace }}\ntext: say {{\"{{\"}} this }}\n");
  EXPECT_EQ(document.Write(), "namespace: {{ .Release.Namespace }}\ntext: say {{ this }}\n");
}

TEST(Yaml, AnActionDependsOnTheFlavor) {
  const Yaml document = Yaml::Map{{"namespace", Yaml::Action("{{ .Release.Namespace }}", "true")}};
  EXPECT_EQ(document.Write(Yaml::Flavor::kHelm), "namespace: {{ .Release.Namespace }}\n");
  EXPECT_EQ(document.Write(), "namespace: \"true\"\n");
}

TEST(Yaml, ADocumentForEachString) {
  const Yaml each = Yaml::ForEach({".Values.names", {"a", "true"}},
                                  Yaml::Map{{"name", Yaml::EachString()}, {"x", "y"}});
  const Yaml other = Yaml::Map{{"z", "w"}};
  EXPECT_EQ(WriteDocuments({each, other}, Yaml::Flavor::kPlain),
            "---\nname: a\nx: \"y\"\n---\nname: \"true\"\nx: \"y\"\n---\nz: w\n");
  EXPECT_EQ(WriteDocuments({each, other}, Yaml::Flavor::kHelm),
            "{{- range $each := .Values.names }}\n{{- with $ }}\n---\n"
            "name: {{ $each | quote }}\nx: \"y\"\n{{- end }}\n{{- end }}\n---\nz: w\n");
}

TEST(Yaml, ADocumentForNoStringIsNotWritten) {
  const Yaml each = Yaml::ForEach({".Values.names", {}}, Yaml::Map{{"name", Yaml::EachString()}});
  EXPECT_EQ(WriteDocuments({each}, Yaml::Flavor::kPlain), "");
}

TEST(Yaml, ConditionsStayInAChartAndAreDecidedInPlainYaml) {
  const Yaml::Condition yes{".Values.yes", true};
  const Yaml::Condition no{".Values.no", false};
  const Yaml document = Yaml::Map{
      {"a", Yaml::If(no, Yaml::Map{{"x", "1"}})},
      {"b", Yaml::List{Yaml::If(no, Yaml("p")), Yaml::If(yes, Yaml::Map{{"q", "r"}, {"s", "t"}})}},
      {"c", Yaml::List{Yaml::If(no, Yaml("p"))}},
      {"d", Yaml::List{Yaml::Map{{"e", Yaml::If(yes && !no, Yaml("f"))}}}},
  };
  EXPECT_EQ(document.Write(), "b:\n- q: r\n  s: t\nc: []\nd:\n- e: f\n");
  EXPECT_EQ(document.Write(Yaml::Flavor::kHelm),
            "{{- if .Values.no }}\n"
            "a:\n"
            "  x: \"1\"\n"
            "{{- end }}\n"
            "b:\n"
            "{{- if .Values.no }}\n"
            "- p\n"
            "{{- end }}\n"
            "{{- if .Values.yes }}\n"
            "- q: r\n"
            "  s: t\n"
            "{{- end }}\n"
            "c:\n"
            "{{- if .Values.no }}\n"
            "- p\n"
            "{{- end }}\n"
            "d:\n"
            "- {{- if and (.Values.yes) (not (.Values.no)) }}\n"
            "  e: f\n"
            "  {{- end }}\n");
}

TEST(Yaml, WritesNestedAndSeparateDocuments) {
  const Yaml inner = Yaml::Map{{"rules", Yaml::List{Yaml("a"), Yaml("b")}}};
  const std::vector<Yaml> documents = {
      Yaml::Map{{"data", Yaml::Map{{"policy.yaml", Yaml::Document(inner)}}}},
      Yaml::If({".Values.no", false}, Yaml::Map{{"kind", "X"}})};
  const std::string first = "---\ndata:\n  policy.yaml: |\n    rules:\n    - a\n    - b\n";
  EXPECT_EQ(WriteDocuments(documents, Yaml::Flavor::kPlain), first);
  EXPECT_EQ(WriteDocuments(documents, Yaml::Flavor::kHelm),
            first + "{{- if .Values.no }}\n---\nkind: X\n{{- end }}\n");
}

}  // namespace
}  // namespace mandate::rbacgen
