// Runs rows, several at a time, and reports the results.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "testing/conformance/row.h"
#include "testing/conformance/target.h"

namespace mandate::conformance {

struct SuiteOptions {
  std::string run;  // part of each namespace's name; distinguishes runs on one server
  size_t at_once = 4;
  absl::Duration patience = absl::Seconds(20);
  absl::Duration hopeless_patience = absl::Seconds(1);  // for rows that must fail
  bool keep_namespaces = false;  // at the end; other objects are always removed
};

struct RowResult {
  const Row* row = nullptr;
  absl::Status status;   // OK if the row passed
  bool skipped = false;  // the target lacks a feature that the row needs
  absl::Duration took;
};

// Returns the results in the order of the rows, which outlive the results. Rows that run alone run
// after all others.
std::vector<RowResult> RunSuite(const std::vector<Row>& rows, const Target& target,
                                const SuiteOptions& options);

// Prints a table by topic, the failed rows, the skipped rows with their reasons, and "N passed, N
// failed". True if no row failed and at least one passed.
bool Report(const std::vector<RowResult>& results, std::ostream& out);

}  // namespace mandate::conformance
