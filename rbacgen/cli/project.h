// Makes the outputs and findings of a configuration in memory.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rbacgen/cli/config.h"
#include "rbacgen/emit/output.h"
#include "rbacgen/report/findings.h"

namespace mandate::rbacgen {

struct Project {
  // Sorted by path. If the sources of an output have errors, its files are not in the list.
  std::vector<OutputFile> files;
  // Generated files on disk that the sources no longer produce, sorted.
  std::vector<std::string> stale;
  // In the order of kFindingRules, then in the order of the sources.
  std::vector<SourceFinding> findings;
  // Whether a source could not be read; `findings` has the reason.
  bool unreadable = false;
};

// Reads the sources, relative to the current folder, and makes every output. NotFound or
// Unavailable if a source cannot be read, InvalidArgument if an output must not be written
// (output_paths.h).
absl::StatusOr<Project> MakeProject(const Config& config);

}  // namespace mandate::rbacgen
