// The outputs and findings of a configuration, made in memory.
#ifndef RBACGEN_CLI_PROJECT_H_
#define RBACGEN_CLI_PROJECT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "rbacgen/cli/config.h"
#include "rbacgen/emit/output.h"
#include "rbacgen/report/findings.h"

namespace mandate::rbacgen {

struct Project {
  // Sorted by path. An output whose sources have errors has no files here.
  std::vector<OutputFile> files;
  // Generated files on disk that the sources no longer make, sorted.
  std::vector<std::string> stale;
  // In the order of kFindingRules, then of the sources.
  std::vector<SourceFinding> findings;
};

// Reads the sources, relative to the current folder, and makes every output. NotFound or
// Unavailable if a source cannot be read.
absl::StatusOr<Project> MakeProject(const Config& config);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_CLI_PROJECT_H_
