#include "rbacgen/cli/output_paths.h"

#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "rbacgen/emit/header_writer.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {
namespace {

namespace fs = std::filesystem;

absl::Status Rejected(const std::string& path, std::string_view why) {
  return absl::InvalidArgumentError(StrCat("the output ", path, " ", why));
}

absl::Status CheckLink(const std::string& output, const fs::path& part) {
  std::error_code error;
  if (!fs::is_symlink(part, error)) return absl::OkStatus();
  const std::string target = fs::read_symlink(part, error).string();
  return Rejected(output, part == fs::path(output)
                              ? StrCat("is a symbolic link to ", target,
                                       "; remove the link, or use another path")
                              : StrCat("is below the symbolic link ", part.string(), ", to ",
                                       target, "; remove the link, or use another path"));
}

// The path relative to the current folder, if it is below it.
std::optional<fs::path> BelowCurrent(const std::string& output) {
  fs::path path = output;
  if (std::ranges::find(path, fs::path("..")) != path.end()) return std::nullopt;
  std::error_code error;
  if (path.is_absolute()) path = path.lexically_relative(fs::current_path(error));
  if (path.empty() || *path.begin() == "..") return std::nullopt;
  return path;
}

absl::Status CheckKind(const std::string& output, OutputKind kind) {
  std::error_code error;
  const fs::file_status status = fs::status(output, error);
  if (kind == OutputKind::kFolder && fs::exists(status) && !fs::is_directory(status)) {
    return Rejected(output, "is not a folder; use a folder");
  }
  if (kind == OutputKind::kFile && (fs::is_directory(status) || output.ends_with('/'))) {
    return Rejected(output, "is a folder; use a file");
  }
  if (kind == OutputKind::kFile && fs::exists(status) && !fs::is_regular_file(status)) {
    return Rejected(output, "is a special file; use a regular file");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckOutputPath(const std::string& path, OutputKind kind) {
  const std::optional<fs::path> below = BelowCurrent(path);
  if (!below) {
    return Rejected(path,
                    "is outside of the folder of the configuration; use a path below that "
                    "folder, without \"..\"");
  }
  fs::path part;
  for (const fs::path& name : *below) {
    part /= name;
    RETURN_IF_ERROR(CheckLink(path, part));
    std::error_code error;
    const fs::file_status status = fs::status(part, error);
    if (part != *below && fs::exists(status) && !fs::is_directory(status)) {
      return Rejected(path, StrCat("is below ", part.string(), ", which is not a folder"));
    }
  }
  return CheckKind(path, kind);
}

absl::Status CheckNoLinks(const std::string& folder, const std::string& below) {
  fs::path part = folder;
  while (part.has_relative_path() && !part.has_filename()) part = part.parent_path();
  const std::string output = (part / below).string();
  RETURN_IF_ERROR(CheckLink(output, part));
  for (const fs::path& name : fs::path(below)) {
    part /= name;
    RETURN_IF_ERROR(CheckLink(output, part));
  }
  return absl::OkStatus();
}

void InputFiles::Add(const std::string& path, std::string_view what) {
  struct stat info = {};
  if (stat(path.c_str(), &info) == 0) {
    files_.insert({Id(info.st_dev, info.st_ino), std::string(what)});
  }
}

absl::Status InputFiles::Check(const std::string& output) const {
  struct stat info = {};
  if (stat(output.c_str(), &info) != 0) return absl::OkStatus();
  const Id id(info.st_dev, info.st_ino);
  const auto found = files_.lower_bound({id, ""});
  if (found == files_.end() || found->first != id) return absl::OkStatus();
  if (const auto text = ReadWholeFile(output); text.ok() && text->starts_with(kHeaderHeading)) {
    return absl::OkStatus();
  }
  return Rejected(output, StrCat("is ", found->second,
                                 ", which rbacgen would overwrite; use "
                                 "another file"));
}

absl::Status CheckDistinct(const std::vector<OutputFile>& files) {
  std::set<fs::path> paths;
  for (const OutputFile& file : files) {
    if (paths.insert(fs::path(file.path).lexically_normal()).second) continue;
    return Rejected(file.path, "is the path of two outputs; use another file for one of them");
  }
  return absl::OkStatus();
}

absl::StatusOr<FolderContent> ListFolder(const std::string& folder, std::string_view heading) {
  FolderContent content;
  std::error_code error;
  if (!fs::exists(folder, error)) return content;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->is_directory(error) && !it->is_symlink(error)) continue;
    const bool plain = it->is_regular_file(error) && !it->is_symlink(error);
    const auto text = plain ? ReadWholeFile(it->path().string()) : absl::StatusOr<std::string>("");
    const bool ours = plain && text.ok() && text->starts_with(heading);
    (ours ? content.ours : content.foreign).push_back(it->path().filename().string());
  }
  if (error) {
    return absl::UnavailableError(StrCat("cannot read the folder ", folder, ": ", error.message()));
  }
  std::ranges::sort(content.ours);
  std::ranges::sort(content.foreign);
  return content;
}

}  // namespace mandate::rbacgen
