// YAML as sigs.k8s.io/yaml v1.6 writes it: keys sorted, lists not indented, the same quotes.
#ifndef RBACGEN_YAML_H_
#define RBACGEN_YAML_H_

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mandate::rbacgen {

// A tree of strings, lists and maps; null by default.
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
  // Written as it stands: a Helm action such as {{ .Release.Namespace }}.
  static Yaml Verbatim(std::string text);

  bool IsNull() const { return kind_ == Kind::kNull; }
  // Of a string or an action; else empty.
  const std::string& text() const { return text_; }
  // A map's value; null if it is not there.
  const Yaml& operator[](const std::string& key) const;
  // A map's value, added if it is not there; null becomes a map.
  Yaml& operator[](const std::string& key);

  // The document, ending in a line feed. kHelm: "{{" in a string is escaped from Helm's templates.
  enum class Flavor { kPlain, kHelm };
  std::string Write(Flavor flavor = Flavor::kPlain) const;

 private:
  class Writer;
  enum class Kind { kNull, kText, kVerbatim, kList, kMap };

  Kind kind_ = Kind::kNull;
  std::string text_;
  List list_;
  Map map_;
};

}  // namespace mandate::rbacgen

#endif  // RBACGEN_YAML_H_
