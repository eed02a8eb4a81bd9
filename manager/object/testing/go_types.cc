#include "manager/object/testing/go_types.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "manager/core/read_file.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// The package of a file below the root: its folder, with dots instead of slashes.
std::string PackageOf(const std::filesystem::path& file, const std::string& root) {
  std::string package = file.parent_path().lexically_relative(root).string();
  std::replace(package.begin(), package.end(), '/', '.');
  return package;
}

// The value of `key:"…"` in a struct tag.
std::string TagValue(std::string_view tag, std::string_view key) {
  const std::string opening = StrCat(key, ":\"");
  const size_t start = tag.find(opening);
  if (start == std::string_view::npos) return "";
  tag.remove_prefix(start + opening.size());
  return std::string(tag.substr(0, tag.find('"')));
}

// The number and tags of a field; nullopt for a line that is not a protobuf field.
std::optional<std::pair<int, GoField>> ParseField(std::string_view line) {
  const size_t tag = line.find('`');
  if (tag == std::string_view::npos) return std::nullopt;
  const std::vector<std::string> protobuf =
      absl::StrSplit(TagValue(line.substr(tag), "protobuf"), ',');
  int number = 0;
  if (protobuf.size() < 2 || !absl::SimpleAtoi(protobuf[1], &number)) return std::nullopt;
  const std::vector<std::string> json = absl::StrSplit(TagValue(line.substr(tag), "json"), ',');
  GoField field;
  field.json_name = json[0];
  for (size_t i = 1; i < json.size(); ++i) {
    if (json[i] == "omitempty" || json[i] == "omitzero") field.omit_empty = true;
  }
  // Parses "Name *Type" or, for an embedded field, "*Type".
  std::istringstream words{std::string(line.substr(0, tag))};
  for (std::string word; words >> word;) field.pointer = word.starts_with('*');
  return std::pair(number, field);
}

template <class Visit>
void ForEachGoFile(const std::string& root, const Visit& visit) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root + "/k8s.io")) {
    if (entry.path().extension() == ".go") visit(entry.path());
  }
}

}  // namespace

void ReadGoFields(std::string_view source, std::string_view package, GoFields* fields) {
  std::string message;  // "" outside a struct
  for (const absl::string_view text : absl::StrSplit(AsAbsl(source), '\n')) {
    const std::string_view line = AsStd(text);
    if (line.starts_with("type ") && line.ends_with(" struct {")) {
      const std::string_view name = line.substr(5);
      message = StrCat(package, ".", name.substr(0, name.find(' ')));
    } else if (line == "}") {
      message.clear();
    } else if (!message.empty()) {
      if (auto field = ParseField(line)) (*fields)[{message, field->first}] = field->second;
    }
  }
}

GoFields ReadAllGoFields(const std::string& root) {
  GoFields fields;
  ForEachGoFile(root, [&](const std::filesystem::path& file) {
    ReadGoFields(*ReadFile(file), PackageOf(file, root), &fields);
  });
  return fields;
}

std::map<std::string, std::string> ReadGroupPackages(const std::string& root) {
  std::map<std::string, std::string> packages;
  ForEachGoFile(root, [&](const std::filesystem::path& file) {
    if (file.filename() != "register.go") return;
    const std::string source = *ReadFile(file);
    const std::string_view opening = "const GroupName = \"";
    const size_t start = source.find(opening);
    const std::string package = PackageOf(file, root);
    if (start == std::string::npos || !package.starts_with("k8s.io.api.")) return;
    const std::string_view rest = std::string_view(source).substr(start + opening.size());
    packages[std::string(rest.substr(0, rest.find('"')))] = package.substr(0, package.rfind('.'));
  });
  return packages;
}

}  // namespace mandate
