// Rejects outputs that would change files that are not rbacgen's.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "rbacgen/emit/output.h"

namespace mandate::rbacgen {

enum class OutputKind { kFile, kFolder };

// InvalidArgument, with the path and the next step, if the output is not below the current folder,
// if it or a folder on the way is a symbolic link, or if another kind of file has its name.
absl::Status CheckOutputPath(const std::string& path, OutputKind kind);

// InvalidArgument if `folder`, or a part of `below` in it, is a symbolic link. The folders above
// `folder` may be links.
absl::Status CheckNoLinks(const std::string& folder, const std::string& below);

// The files that no output may replace. Not thread-safe.
class InputFiles {
 public:
  // `what` is for messages: "a source", "the configuration".
  void Add(const std::string& path, std::string_view what);
  // InvalidArgument if the output is one of the files, also by another name (a hard link), unless
  // that file is a source that begins with rbacgen's heading: a header may be in a folder of
  // sources.
  absl::Status Check(const std::string& output) const;

 private:
  using Id = std::pair<uint64_t, uint64_t>;  // device and inode
  std::set<std::pair<Id, std::string>> files_;
};

// InvalidArgument if two of the files have the same path.
absl::Status CheckDistinct(const std::vector<OutputFile>& files);

// The names of regular files in a folder of generated files, sorted.
struct FolderContent {
  std::vector<std::string> ours;     // they begin with the heading
  std::vector<std::string> foreign;  // files of others, also symbolic links
};
// Both lists are empty if the folder does not exist. Unavailable if it cannot be read.
absl::StatusOr<FolderContent> ListFolder(const std::string& folder, std::string_view heading);

}  // namespace mandate::rbacgen
