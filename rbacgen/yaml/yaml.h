// Writes YAML like sigs.k8s.io/yaml v1.6: sorted keys, lists without indentation, the same quotes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mandate::rbacgen {

// A tree of strings, lists and maps; null by default. The tree also has the parts that depend on a
// chart's values, so that one tree makes both a Helm template and plain manifests.
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
  // A text that is written unchanged, such as true or 30.
  static Yaml Verbatim(std::string text);
  // In a chart, the unchanged text `helm`, such as {{ .Release.Namespace }}; otherwise the string
  // `plain`.
  static Yaml Action(std::string helm, std::string plain);
  // A string whose content is a document.
  static Yaml Document(Yaml inner);

  // A condition: a chart evaluates `helm` when it is installed; plain YAML uses `plain` when it is
  // written.
  struct Condition {
    std::string helm;  // the argument of a template's "if"; empty if always true
    bool plain = true;

    Condition operator&&(const Condition& other) const;
    Condition operator!() const;
  };
  // A list of strings: in a chart the value `helm`, such as $.Values.names, else `plain`.
  struct Strings {
    std::string helm;
    std::vector<std::string> plain;
  };
  // A document that exists once for each string, with the string wherever it has EachString().
  static Yaml ForEach(Strings strings, Yaml document);
  static Yaml EachString();
  const std::optional<Strings>& for_each() const { return for_each_; }

  // A list item, map entry or document that exists only if `condition` is true. In a chart, the
  // caller must omit a list or map that could become empty.
  static Yaml If(const Condition& condition, Yaml node);
  const Condition& condition() const { return condition_; }

  bool IsNull() const { return kind_ == Kind::kNull; }
  // The text of a string, or of an action in plain YAML; else empty.
  const std::string& text() const { return text_; }
  // A map's value; null if the key is missing.
  const Yaml& operator[](const std::string& key) const;
  // A map's value; adds it if the key is missing. A null tree becomes a map.
  Yaml& operator[](const std::string& key);

  // The document, which ends in a line feed; its own condition, and ForEach(), are ignored. For
  // kHelm, "{{" in a string is escaped, so that Helm does not evaluate it.
  enum class Flavor { kPlain, kHelm };
  // `each` is what EachString() is in plain YAML.
  std::string Write(Flavor flavor = Flavor::kPlain, std::string_view each = "") const;

 private:
  class Writer;
  enum class Kind { kNull, kText, kVerbatim, kAction, kEachString, kDocument, kList, kMap };

  Kind kind_ = Kind::kNull;
  Condition condition_;
  std::optional<Strings> for_each_;
  std::string text_;
  std::string helm_;  // for an action
  List list_;         // for a document: its content
  Map map_;
};

// The documents one after the other, each after a line "---", under its condition, and once for
// each string of its ForEach().
std::string WriteDocuments(const std::vector<Yaml>& documents, Yaml::Flavor flavor);

}  // namespace mandate::rbacgen
