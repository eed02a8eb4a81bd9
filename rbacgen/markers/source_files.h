// The files that the arguments of a command name.
#ifndef RBACGEN_MARKERS_SOURCE_FILES_H_
#define RBACGEN_MARKERS_SOURCE_FILES_H_

#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mandate::rbacgen {

// Files, and folders with all below them ("dir/..." is "dir"), as a sorted list of files, each
// once. A walk reads the languages with // comments, as controller-gen does also in the modules
// inside the module, and skips names that begin with "." or "_", testdata, vendor,
// node_modules and *_test.* files; and links to folders. NotFound if a path does not exist.
absl::StatusOr<std::vector<std::string>> FindSourceFiles(std::span<const std::string> paths);

absl::StatusOr<std::string> ReadWholeFile(const std::string& path);
// Replaces the file, making its folder if needed; does not touch a file that already has this text.
absl::Status WriteWholeFile(const std::string& path, const std::string& text);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_MARKERS_SOURCE_FILES_H_
