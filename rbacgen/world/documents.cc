#include "rbacgen/world/documents.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_replace.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json.h"

namespace mandate::rbacgen {
namespace {

constexpr int kMaxDepth = 64;
constexpr size_t kMaxAliased = 1'000'000;
// The parser stops reading at the first two bytes. UTF-16 text begins with the others, or contains
// the first.
constexpr std::string_view kNeverInText("\0\x04\xFE\xFF", 4);
constexpr std::string_view kCoreTag = "tag:yaml.org,2002:";

int LinesOf(std::string_view text) {
  return static_cast<int>(std::count(text.begin(), text.end(), '\n'));
}

absl::Status ErrorAt(int line, std::string_view what) {
  return absl::InvalidArgumentError(StrCat("line ", line, ": ", what));
}

// Whether this is YAML 1.1's merge key; it must not be quoted.
bool IsMergeKey(const YAML::Node& key) {
  return key.Scalar() == "<<" && key.Tag() != "!" && key.Tag() != "tag:yaml.org,2002:str";
}

// Converts YAML nodes to JSON. Not thread-safe.
class Converter {
 public:
  // Without aliases, a text has fewer values than characters.
  explicit Converter(size_t characters) : left_(characters + kMaxAliased) {}

  // `lines` is the number of lines before the text of `node`.
  absl::StatusOr<Json::Value> Convert(const YAML::Node& node, int lines) {
    lines_ = lines;
    return StringsOf(node, 0);
  }

 private:
  absl::StatusOr<Json::Value> StringsOf(const YAML::Node& node, int depth) {
    if (depth > kMaxDepth) return absl::InvalidArgumentError("nested too deep");
    if (left_-- == 0) {
      return absl::InvalidArgumentError(
          StrCat("its aliases stand for more than ", kMaxAliased, " values"));
    }
    if (node.IsScalar()) return TextOf(node);
    RETURN_IF_ERROR(CheckTag(node));
    if (node.IsSequence()) {
      Json::Value list(Json::arrayValue);
      for (const YAML::Node& item : node) {
        ASSIGN_OR_RETURN(Json::Value value, StringsOf(item, depth + 1));
        list.append(std::move(value));
      }
      return list;
    }
    if (node.IsMap()) {
      Json::Value map(Json::objectValue);
      for (const auto& entry : node) {
        if (!entry.first.IsScalar()) continue;
        if (IsMergeKey(entry.first)) {
          RETURN_IF_ERROR(Merge(entry.first, entry.second, depth + 1, &map));
          continue;
        }
        ASSIGN_OR_RETURN(const std::string key, TextOf(entry.first));
        ASSIGN_OR_RETURN(map[key], StringsOf(entry.second, depth + 1));
      }
      return map;
    }
    return Json::Value();
  }

  // Adds the entries of the map, or of the list of maps, that a merge key has. Like kubectl (yaml
  // v2): a later entry of the text replaces an earlier one; if several merged maps have a key, the
  // first one counts.
  absl::Status Merge(const YAML::Node& key, const YAML::Node& value, int depth, Json::Value* map) {
    if (!value.IsMap() && !value.IsSequence()) {
      return ErrorAt(LineOf(key), "the merge key << needs a map or a list of maps");
    }
    if (value.IsSequence()) {
      for (size_t i = value.size(); i-- > 0;) {
        // A list within the list is an error, as a scalar is.
        const YAML::Node& item = value[i].IsSequence() ? key : value[i];
        RETURN_IF_ERROR(Merge(key, item, depth, map));
      }
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(Json::Value merged, StringsOf(value, depth));
    for (const std::string& name : merged.getMemberNames()) {
      (*map)[name] = std::move(merged[name]);
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::string> TextOf(const YAML::Node& scalar) const {
    if (scalar.Tag() != StrCat(kCoreTag, "binary")) {
      RETURN_IF_ERROR(CheckTag(scalar));
      return scalar.Scalar();
    }
    std::string text;
    if (absl::Base64Unescape(scalar.Scalar(), &text)) return text;
    return ErrorAt(LineOf(scalar), "the value of !!binary is not base64");
  }

  // "?" and "!" mark scalars without a tag.
  absl::Status CheckTag(const YAML::Node& node) const {
    std::string_view tag = node.Tag();
    if (tag.empty() || tag == "?" || tag == "!") return absl::OkStatus();
    if (tag.starts_with(kCoreTag)) {
      tag.remove_prefix(kCoreTag.size());
      for (const char* known : {"str", "int", "float", "bool", "null", "map", "seq", "merge"}) {
        if (tag == known) return absl::OkStatus();
      }
    }
    return ErrorAt(LineOf(node), StrCat("the tag ", node.Tag(), " is not supported"));
  }

  int LineOf(const YAML::Node& node) const { return lines_ + node.Mark().line + 1; }

  size_t left_;
  int lines_ = 0;
};

// Records the line at which the last document begins.
class DocumentStart : public YAML::EventHandler {
 public:
  int line() const { return line_; }

  void OnDocumentStart(const YAML::Mark& mark) override { line_ = mark.line; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}

 private:
  int line_ = 0;
};

class Documents {
 public:
  explicit Documents(std::string_view text) : converter_(text.size()) {}

  absl::Status AddJson(std::string_view text) {
    size_t at = 0;
    for (int line = 1;;) {
      const size_t start = std::min(text.find_first_not_of(" \t\r\n", at), text.size());
      line += LinesOf(text.substr(at, start - at));
      if (start == text.size()) return absl::OkStatus();
      JsonCursor cursor(text.substr(start), {.max_bytes = text.size()});
      std::string_view source;
      if (!cursor.SkipValue(&source)) return AddYaml(text.substr(start), line - 1);
      // ParseJson rejects a repeated key; for YAML, and so for kubectl, the last value counts.
      if (absl::StatusOr<Json::Value> value = ParseJson(source); !value.ok()) {
        RETURN_IF_ERROR(AddDocument(source, line - 1));
      } else if (!value->isNull()) {
        documents_.push_back({line, *std::move(value)});
      }
      line += LinesOf(source);
      at = start + cursor.Consumed();
    }
  }

  // `lines` is the number of lines before `text`.
  absl::Status AddYaml(std::string_view text, int lines) {
    for (size_t at = 0, begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
      const bool is_last = end == text.size();
      const std::string_view next = text.substr(end);
      at = end;
      if (!is_last && !IsSeparator(next)) continue;
      RETURN_IF_ERROR(AddDocument(text.substr(begin, end - begin), lines));
      lines += LinesOf(text.substr(begin, end - begin));
      begin = end;
    }
    return absl::OkStatus();
  }

  std::vector<Document> Finish() { return std::move(documents_); }

 private:
  static bool IsSeparator(std::string_view line) {
    return line.starts_with("---") &&
           (line.size() == 3 || std::string_view(" \t\r\n").find(line[3]) != line.npos);
  }

  // Adds a text with at most one document; it may begin with a line `---`.
  absl::Status AddDocument(std::string_view text, int lines) {
    if (IsSeparator(text)) {
      const size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
      const size_t content = text.find_first_not_of(" \t\r\n", 3);
      if (content == text.npos) return absl::OkStatus();
      if (content >= end || text[content] == '#') {
        text.remove_prefix(end);
        ++lines;
      }
    }
    if (const size_t at = text.find_first_of(kNeverInText); at != text.npos) {
      return ErrorAt(lines + LinesOf(text.substr(0, at)) + 1,
                     "the text must be UTF-8 without control characters");
    }
    // The parser skips a byte order mark here, at the start of its text, as kubectl does. These
    // characters also end a line and its comment for kubectl, but not for this parser.
    const std::string yaml = absl::StrReplaceAll(AsAbsl(text), {{"\r\n", "\n"},
                                                                {"\r", "\n"},
                                                                {"\xC2\x85", "\n"},
                                                                {"\xE2\x80\xA8", "\n"},
                                                                {"\xE2\x80\xA9", "\n"}});
    try {
      std::istringstream in(yaml);
      YAML::Parser parser(in);
      DocumentStart document;
      // YAML::LoadAll() would loop forever on text such as "," that the parser does not consume.
      if (parser.HandleNextDocument(document) && parser.HandleNextDocument(document)) {
        return ErrorAt(lines + document.line() + 1,
                       "text follows the document; a line \"---\" must separate documents");
      }
      const YAML::Node node = YAML::Load(yaml);
      ASSIGN_OR_RETURN(Json::Value value, converter_.Convert(node, lines));
      if (!value.isNull()) {
        documents_.push_back({lines + node.Mark().line + 1, std::move(value)});
      }
    } catch (const YAML::Exception& e) {
      return ErrorAt(lines + e.mark.line + 1,
                     StrCat(e.msg, text.find("{{") == text.npos
                                       ? ""
                                       : " (a Helm template? Render it first: helm template CHART "
                                         "| rbacgen … -)"));
    }
    return absl::OkStatus();
  }

  Converter converter_;
  std::vector<Document> documents_;
};

}  // namespace

absl::StatusOr<std::vector<Document>> ReadDocuments(std::string_view text) {
  Documents documents(text);
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool is_json = first != text.npos && (text[first] == '{' || text[first] == '[');
  RETURN_IF_ERROR(is_json ? documents.AddJson(text) : documents.AddYaml(text, 0));
  return documents.Finish();
}

}  // namespace mandate::rbacgen
