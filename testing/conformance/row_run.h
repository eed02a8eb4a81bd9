// Runs one row.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "testing/conformance/audit_log.h"
#include "testing/conformance/http.h"
#include "testing/conformance/row.h"
#include "testing/conformance/target.h"

namespace mandate::conformance {

// The references must outlive the run.
struct RowContext {
  const Target& target;
  HttpClient& http;
  AuditLog* audit_log;                          // null if the target has no log
  std::string id;                               // unique on the server: the row's namespace
  absl::Duration patience = absl::Seconds(20);  // for an event, and for `eventually`
};

// The error names the first step that failed, and the difference.
absl::Status RunRow(const Row& row, const RowContext& context);

}  // namespace mandate::conformance
