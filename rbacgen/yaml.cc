#include "rbacgen/yaml.h"

#include "absl/strings/str_replace.h"
#include "rbacgen/yaml_scalar.h"

namespace mandate::rbacgen {

// Appends to one text; `indent` is always that of the block being written.
class Yaml::Writer {
 public:
  explicit Writer(Flavor flavor) : flavor_(flavor) {}

  // A list or map as a block, its first line already indented.
  void Block(const Yaml& node, size_t indent) {
    bool first = true;
    const auto line = [&] {
      if (!first) out_.append(indent, ' ');
      first = false;
    };
    if (node.kind_ == Kind::kList) {
      for (const Yaml& item : node.list_) {
        line();
        out_ += "- ";
        if (IsBlock(item)) {
          Block(item, indent + 2);
        } else {
          Inline(item, indent + 2);
        }
      }
      return;
    }
    for (const auto& [key, value] : node.map_) {
      line();
      out_ += YamlScalar(key, indent, indent) + ":";
      if (!IsBlock(value)) {
        out_ += ' ';
        Inline(value, indent + 2);
        continue;
      }
      const size_t inner = value.kind_ == Kind::kList ? indent : indent + 2;
      out_ += '\n';
      out_.append(inner, ' ');
      Block(value, inner);
    }
  }

  // What fits behind "key: " or "- ".
  void Inline(const Yaml& node, size_t indent) {
    switch (node.kind_) {
      case Kind::kVerbatim:
        out_ += node.text_;
        break;
      case Kind::kText: {
        const size_t column = out_.size() - (out_.rfind('\n') + 1);
        std::string scalar = YamlScalar(node.text_, indent, column);
        if (flavor_ == Flavor::kHelm) absl::StrReplaceAll({{"{{", "{{\"{{\"}}"}}, &scalar);
        out_ += scalar;
        break;
      }
      case Kind::kList:
        out_ += "[]";
        break;
      case Kind::kMap:
        out_ += "{}";
        break;
      case Kind::kNull:
        out_ += "null";
        break;
    }
    if (!out_.ends_with('\n')) out_ += '\n';
  }

  static bool IsBlock(const Yaml& node) { return !node.list_.empty() || !node.map_.empty(); }

  std::string Take() { return std::move(out_); }

 private:
  Flavor flavor_;
  std::string out_;
};

Yaml Yaml::Verbatim(std::string text) {
  Yaml node;
  node.kind_ = Kind::kVerbatim;
  node.text_ = std::move(text);
  return node;
}

const Yaml& Yaml::operator[](const std::string& key) const {
  static const auto* const kNull = new Yaml();
  const auto found = map_.find(key);
  return found == map_.end() ? *kNull : found->second;
}

Yaml& Yaml::operator[](const std::string& key) {
  if (kind_ == Kind::kNull) kind_ = Kind::kMap;
  return map_[key];
}

std::string Yaml::Write(Flavor flavor) const {
  Writer writer(flavor);
  if (Writer::IsBlock(*this)) {
    writer.Block(*this, 0);
  } else {
    writer.Inline(*this, 0);
  }
  return writer.Take();
}

}  // namespace mandate::rbacgen
