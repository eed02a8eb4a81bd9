// Runs rows, several at a time, and says how they came out.
#ifndef TESTING_CONFORMANCE_SUITE_H_
#define TESTING_CONFORMANCE_SUITE_H_

#include <ostream>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "testing/conformance/row.h"
#include "testing/conformance/target.h"

namespace mandate::conformance {

struct SuiteOptions {
  std::string run;  // distinguishes runs on one server: part of every namespace's name
  size_t at_once = 4;
  absl::Duration patience = absl::Seconds(20);
  absl::Duration hopeless_patience = absl::Seconds(1);  // with rows that must fail
  bool keep_namespaces = false;  // at the end of all rows; the rest goes with each row
};

struct RowResult {
  const Row* row = nullptr;
  absl::Status status;   // OK: as the row says
  bool skipped = false;  // the target lacks what it needs
  absl::Duration took;
};

// In the order of the rows, which outlive the results. Rows that run alone come after all others.
std::vector<RowResult> RunSuite(const std::vector<Row>& rows, const Target& target,
                                const SuiteOptions& options);

// A table by topic, what failed, what was skipped and why, and "N passed, N failed". True: nothing
// failed, and something passed.
bool Report(const std::vector<RowResult>& results, std::ostream& out);

}  // namespace mandate::conformance

#endif  // TESTING_CONFORMANCE_SUITE_H_
