// Runs one row.
#ifndef TESTING_CONFORMANCE_ROW_RUN_H_
#define TESTING_CONFORMANCE_ROW_RUN_H_

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "testing/conformance/audit_log.h"
#include "testing/conformance/http.h"
#include "testing/conformance/row.h"
#include "testing/conformance/target.h"

namespace mandate::conformance {

// Everything outlives the run.
struct RowContext {
  const Target& target;
  HttpClient& http;
  AuditLog* audit_log;                          // null only when the target has none
  std::string id;                               // unique on the server: the row's namespace
  absl::Duration patience = absl::Seconds(20);  // for an event, `eventually`
};

// Not OK: the first step that came out otherwise, and how.
absl::Status RunRow(const Row& row, const RowContext& context);

}  // namespace mandate::conformance

#endif  // TESTING_CONFORMANCE_ROW_RUN_H_
