#include "rbacgen/yaml.h"

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

TEST(Yaml, BlocksEndTheirLineOnce) {
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

}  // namespace
}  // namespace mandate::rbacgen
