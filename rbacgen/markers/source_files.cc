#include "rbacgen/markers/source_files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "manager/core/read_file.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "rbacgen/markers/source_comments.h"

namespace mandate::rbacgen {
namespace {

namespace fs = std::filesystem;

bool IsPassedOver(std::string_view name) {
  return name.starts_with('.') || name.starts_with('_') || name == "testdata" || name == "vendor" ||
         name == "node_modules";
}

bool IsTest(std::string_view name) { return name.substr(0, name.rfind('.')).ends_with("_test"); }

absl::Status Walk(const fs::path& folder, std::vector<std::string>* files) {
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (IsPassedOver(name)) continue;
    if (it->is_directory(error)) {
      if (it->is_symlink(error)) continue;
      RETURN_IF_ERROR(Walk(it->path(), files));
      // Opening a FIFO would block.
    } else if (IsSource(name) && !IsTest(name) && !it->is_other(error)) {
      files->push_back(it->path().lexically_normal().string());
    }
  }
  if (error) {
    return absl::UnavailableError(
        absl::StrCat("cannot read the folder ", folder.string(), ": ", error.message()));
  }
  return absl::OkStatus();
}

std::string FolderOf(std::string_view path) {
  if (path == "...") return ".";
  if (path.ends_with("/...")) path.remove_suffix(4);
  return path.empty() ? "/" : std::string(path);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> FindSourceFiles(std::span<const std::string> paths) {
  std::vector<std::string> files;
  for (const std::string& given : paths) {
    const fs::path path = FolderOf(given);
    std::error_code error;
    const fs::file_status status = fs::status(path, error);
    if (!fs::exists(status)) {
      return absl::NotFoundError(absl::StrCat("no such file or folder: ", path.string()));
    }
    if (fs::is_directory(status)) {
      RETURN_IF_ERROR(Walk(path, &files));
    } else {
      files.push_back(path.lexically_normal().string());
    }
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

absl::StatusOr<std::string> ReadWholeFile(const std::string& path) {
  const auto cannot = [](const absl::Status& why) {
    return absl::UnavailableError(StrCat("cannot read it: ", AsStd(why.message())));
  };
  const absl::StatusOr<int> file = OpenForReading(path);
  if (!file.ok()) return cannot(file.status());
  absl::StatusOr<std::string> text = ReadToEnd(*file, kMaxFileBytes);
  close(*file);
  if (!text.ok()) return cannot(text.status());
  return text;
}

absl::Status WriteWholeFile(const std::string& path, const std::string& text) {
  const auto cannot = [&](std::string_view why) {
    return absl::UnavailableError(StrCat("cannot write ", path, ": ", why));
  };
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  // Opening a FIFO would wait for a reader.
  if (fs::is_fifo(status) && !NamesDescriptor(path)) return cannot("it is a FIFO; use a file");
  if (fs::is_regular_file(status)) {
    if (const auto old = ReadWholeFile(path); old.ok() && *old == text) return absl::OkStatus();
  }
  if (const fs::path folder = fs::path(path).parent_path(); !folder.empty()) {
    fs::create_directories(folder, error);
  }
  errno = 0;
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << text;
  file.close();
  const int why = errno;
  return file ? absl::OkStatus() : cannot(std::strerror(why));
}

}  // namespace mandate::rbacgen
