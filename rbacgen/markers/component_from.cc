#include "rbacgen/markers/component_from.h"

#include <cctype>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "manager/core/strings.h"
#include "rbacgen/markers/text.h"

namespace mandate::rbacgen {
namespace {

namespace fs = std::filesystem;

std::string FolderName(const std::string& file) {
  std::error_code error;
  // The path must be absolute, because files such as "main.go" and "../x.go" are also in a folder
  // with a name.
  return fs::absolute(file, error).lexically_normal().parent_path().filename().string();
}

std::string FileStem(const std::string& file) {
  std::string stem = fs::path(file).stem().string();
  for (const std::string_view ending : {"_controller", "_reconciler", "_webhook"}) {
    if (stem.ends_with(ending)) stem.resize(stem.size() - ending.size());
  }
  return stem;
}

std::string AsLabel(std::string_view name) {
  std::string label;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    const bool kept = byte < 0x80 && std::isalnum(byte) != 0;
    label += kept ? static_cast<char>(std::tolower(byte)) : '-';
  }
  label.erase(0, label.find_first_not_of('-'));
  label.resize(label.find_last_not_of('-') + 1);
  return label;
}

}  // namespace

absl::StatusOr<std::string> ComponentOfFile(const std::string& file, ComponentFrom from) {
  if (from == ComponentFrom::kMarker) return std::string();
  const std::string name = from == ComponentFrom::kDir ? FolderName(file) : FileStem(file);
  std::string component = AsLabel(name);
  if (IsDnsLabel(component) && component != "base") return component;
  return absl::InvalidArgumentError(StrCat(
      "the name of its ", from == ComponentFrom::kDir ? "folder" : "file", ", ", Quoted(name),
      component == "base" ? ", is reserved for the manager's own identity"
                          : ", is not a valid component name",
      "; write // +mandate:component:name=NAME above its first rule"));
}

}  // namespace mandate::rbacgen
