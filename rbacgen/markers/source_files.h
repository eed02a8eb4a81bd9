// Finds the files that the arguments of a command name.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace mandate::rbacgen {

// A sorted list, without duplicates, of the given files and of all files below the given folders
// ("dir/..." means "dir"). A walk reads the languages with // comments; like controller-gen, it
// also reads nested modules. It skips names that begin with "." or "_", testdata, vendor,
// node_modules, *_test.* files, and links to folders. NotFound if a path does not exist.
absl::StatusOr<std::vector<std::string>> FindSourceFiles(std::span<const std::string> paths);

// The largest file that rbacgen reads. Audit logs, which are read in parts, have no bound.
inline constexpr size_t kMaxFileBytes = size_t{256} << 20;

// Unavailable, with the reason but not the path, if the file cannot be read, is longer than
// kMaxFileBytes, or is a special file that OpenForReading() rejects.
absl::StatusOr<std::string> ReadWholeFile(const std::string& path);
// Replaces the file and makes its folder if needed; does not write a file that already has this
// text. Unavailable, with the path and the reason, if it cannot be written, or is a FIFO that is
// not open already.
absl::Status WriteWholeFile(const std::string& path, const std::string& text);

}  // namespace mandate::rbacgen
