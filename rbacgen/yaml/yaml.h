// YAML as sigs.k8s.io/yaml v1.6 writes it: keys sorted, lists not indented, the same quotes.
#ifndef RBACGEN_YAML_YAML_H_
#define RBACGEN_YAML_YAML_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mandate::rbacgen {

// A tree of strings, lists and maps; null by default. The parts that depend on a chart's values are
// in the tree too, so that one tree makes both a Helm template and plain manifests.
class Yaml {
 public:
  using List = std::vector<Yaml>;
  using Map = std::map<std::string, Yaml>;

  Yaml() = default;
  Yaml(std::string text) : kind_(Kind::kText), text_(std::move(text)) {}  // NOLINT: converts
  Yaml(std::string_view text) : Yaml(std::string(text)) {}                // NOLINT: converts
  Yaml(const char* text) : Yaml(std::string(text)) {}                     // NOLINT: converts
  Yaml(List list) : kind_(Kind::kList), list_(std::move(list)) {}         // NOLINT: converts
  Yaml(Map map) : kind_(Kind::kMap), map_(std::move(map)) {}              // NOLINT: converts
  explicit Yaml(const std::vector<std::string>& strings)
      : Yaml(List(strings.begin(), strings.end())) {}
  // Written unchanged: true, 30.
  static Yaml Verbatim(std::string text);
  // In a chart, `helm` unchanged, such as {{ .Release.Namespace }}; else the string `plain`.
  static Yaml Action(std::string helm, std::string plain);
  // A string that is itself a document.
  static Yaml Document(Yaml inner);

  // A condition that a chart evaluates when it is installed, and plain YAML when it is written.
  struct Condition {
    std::string helm;  // the argument of a template's "if"; empty: always
    bool plain = true;

    Condition operator&&(const Condition& other) const;
    Condition operator!() const;
  };
  // An item of a list, an entry of a map or a document that is there if `condition` holds. In a
  // chart, the caller must omit a list or map that could become empty.
  static Yaml If(const Condition& condition, Yaml node);
  const Condition& condition() const { return condition_; }

  bool IsNull() const { return kind_ == Kind::kNull; }
  // Of a string, or of an action in plain YAML; else empty.
  const std::string& text() const { return text_; }
  // A map's value; null if the key is missing.
  const Yaml& operator[](const std::string& key) const;
  // A map's value, added if the key is missing; null becomes a map.
  Yaml& operator[](const std::string& key);

  // The document, ending in a line feed, whatever its own condition. kHelm: "{{" in a string is
  // escaped from Helm's templates.
  enum class Flavor { kPlain, kHelm };
  std::string Write(Flavor flavor = Flavor::kPlain) const;

 private:
  class Writer;
  enum class Kind { kNull, kText, kVerbatim, kAction, kDocument, kList, kMap };

  Kind kind_ = Kind::kNull;
  Condition condition_;
  std::string text_;
  std::string helm_;  // of an action
  List list_;         // of a document: itself
  Map map_;
};

// Documents one after the other, each behind "---", under their conditions.
std::string WriteDocuments(const std::vector<Yaml>& documents, Yaml::Flavor flavor);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_YAML_YAML_H_
