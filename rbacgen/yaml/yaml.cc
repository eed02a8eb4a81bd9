#include "rbacgen/yaml/yaml.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "rbacgen/yaml/yaml_scalar.h"

namespace mandate::rbacgen {

// Appends to one text. `indent` is always that of the block that is being written.
class Yaml::Writer {
 public:
  Writer(Flavor flavor, std::string_view each) : flavor_(flavor), each_(each) {}

  // Writes a list or map as a block; its first line is already indented.
  void Block(const Yaml& node, size_t indent) {
    bool first = true;
    const auto each = [&](const Yaml& child, auto write) {
      if (!IsWritten(child)) return;
      if (!first) out_.append(indent, ' ');
      first = false;
      const bool guarded = IsGuarded(child);
      if (guarded) {
        out_ += "{{- if " + child.condition_.helm + " }}\n";
        out_.append(indent, ' ');
      }
      write();
      if (guarded) out_.append(indent, ' ').append("{{- end }}\n");
    };
    if (node.kind_ == Kind::kList) {
      for (const Yaml& item : node.list_) each(item, [&] { Item(item, indent); });
      return;
    }
    for (const auto& [key, value] : node.map_)
      each(value, [&, &key = key, &value = value] { Entry(key, value, indent); });
  }

  void Item(const Yaml& item, size_t indent) {
    out_ += "- ";
    if (IsBlock(item)) {
      Block(item, indent + 2);
    } else {
      Inline(item, indent + 2);
    }
  }

  void Entry(const std::string& key, const Yaml& value, size_t indent) {
    out_ += YamlScalar(key, indent, indent) + ":";
    if (!IsBlock(value)) {
      out_ += ' ';
      Inline(value, indent + 2);
      return;
    }
    const size_t inner = value.kind_ == Kind::kList ? indent : indent + 2;
    out_ += '\n';
    out_.append(inner, ' ');
    Block(value, inner);
  }

  // Writes what follows "key: " or "- " on the same line.
  void Inline(const Yaml& node, size_t indent) {
    switch (node.kind_) {
      case Kind::kVerbatim:
        out_ += node.text_;
        break;
      case Kind::kAction:
        if (flavor_ == Flavor::kHelm) {
          out_ += node.helm_;
        } else {
          Text(node.text_, indent);
        }
        break;
      case Kind::kEachString:
        if (flavor_ == Flavor::kHelm) {
          out_ += "{{ $each | quote }}";
        } else {
          Text(std::string(each_), indent);
        }
        break;
      case Kind::kText:
        Text(node.text_, indent);
        break;
      case Kind::kDocument:
        out_ += "|\n";
        out_.append(indent, ' ');
        Block(node.list_.front(), indent);
        break;
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

  bool IsGuarded(const Yaml& node) const {
    return flavor_ == Flavor::kHelm && !node.condition_.helm.empty();
  }
  bool IsWritten(const Yaml& node) const {
    return flavor_ == Flavor::kHelm || node.condition_.plain;
  }
  bool IsBlock(const Yaml& node) const {
    if (node.kind_ == Kind::kDocument) return false;
    const auto written = [this](const Yaml& child) { return IsWritten(child); };
    return std::any_of(node.list_.begin(), node.list_.end(), written) ||
           std::any_of(node.map_.begin(), node.map_.end(),
                       [&](const auto& entry) { return written(entry.second); });
  }

  std::string Take() { return std::move(out_); }

 private:
  void Text(const std::string& text, size_t indent) {
    const size_t column = out_.size() - (out_.rfind('\n') + 1);
    std::string scalar = YamlScalar(text, indent, column);
    if (flavor_ == Flavor::kHelm) absl::StrReplaceAll({{"{{", "{{\"{{\"}}"}}, &scalar);
    out_ += scalar;
  }

  Flavor flavor_;
  std::string_view each_;
  std::string out_;
};

Yaml Yaml::Verbatim(std::string text) {
  Yaml node;
  node.kind_ = Kind::kVerbatim;
  node.text_ = std::move(text);
  return node;
}

Yaml Yaml::Action(std::string helm, std::string plain) {
  Yaml node(std::move(plain));
  node.kind_ = Kind::kAction;
  node.helm_ = std::move(helm);
  return node;
}

Yaml Yaml::Document(Yaml inner) {
  Yaml node;
  node.kind_ = Kind::kDocument;
  node.list_.push_back(std::move(inner));
  return node;
}

Yaml Yaml::ForEach(Strings strings, Yaml document) {
  document.for_each_ = std::move(strings);
  return document;
}

Yaml Yaml::EachString() {
  Yaml node;
  node.kind_ = Kind::kEachString;
  return node;
}

Yaml Yaml::If(const Condition& condition, Yaml node) {
  node.condition_ = condition && node.condition_;
  return node;
}

Yaml::Condition Yaml::Condition::operator&&(const Condition& other) const {
  const bool both = !helm.empty() && !other.helm.empty();
  return {both ? absl::StrCat("and (", helm, ") (", other.helm, ")") : helm + other.helm,
          plain && other.plain};
}

Yaml::Condition Yaml::Condition::operator!() const {
  return {absl::StrCat("not (", helm, ")"), !plain};
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

std::string Yaml::Write(Flavor flavor, std::string_view each) const {
  Writer writer(flavor, each);
  if (writer.IsBlock(*this)) {
    writer.Block(*this, 0);
  } else {
    writer.Inline(*this, 0);
  }
  return writer.Take();
}

std::string WriteDocuments(const std::vector<Yaml>& documents, Yaml::Flavor flavor) {
  const bool helm = flavor == Yaml::Flavor::kHelm;
  std::string text, open;  // `open`: the condition that is open
  const auto expect = [&](const std::string& condition) {
    if (condition == open) return;
    if (!open.empty()) text += "{{- end }}\n";
    if (!condition.empty()) absl::StrAppend(&text, "{{- if ", condition, " }}\n");
    open = condition;
  };
  for (const Yaml& document : documents) {
    if (!helm && !document.condition().plain) continue;
    if (helm) expect(document.condition().helm);
    if (!document.for_each()) {
      absl::StrAppend(&text, "---\n", document.Write(flavor));
    } else if (helm) {
      // Inside "range", "." would be the string, and not what the actions expect.
      absl::StrAppend(&text, "{{- range $each := ", document.for_each()->helm, " }}\n",
                      "{{- with $ }}\n---\n", document.Write(flavor), "{{- end }}\n{{- end }}\n");
    } else {
      for (const std::string& each : document.for_each()->plain) {
        absl::StrAppend(&text, "---\n", document.Write(flavor, each));
      }
    }
  }
  expect("");
  return text;
}

}  // namespace mandate::rbacgen
