// The server on which rows run.
#pragma once

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "testing/conformance/http.h"

namespace mandate::conformance {

// A value.
struct Target {
  Connection connection;  // with the administrator's client certificate, unless there is a token
  std::string token;      // the administrator's; empty: not used

  // Returns the JSON lines that were added to the audit log since the last call. Called by one
  // thread at a time. If empty, rows that need the log do not run.
  std::function<std::string()> audit_log;
  // Makes the server drop the history before this resourceVersion. Called by any thread. If empty,
  // rows that need it do not run.
  std::function<absl::Status(const std::string& resource_version)> compact;
  // Restarts etcd, and returns when it serves again. Called for one row at a time. If empty, rows
  // that need it do not run.
  std::function<absl::Status()> restart_etcd;
  // Whether the server has no watch cache for PodTemplates.
  bool uncached = false;
  // Whether the server checks the permissions to set owners (OwnerReferencesPermissionEnforcement).
  bool owner_permissions = false;
  // Whether the server is the double. Then rows with a not-double line must fail.
  bool is_double = false;
  // Whether the project's CRDs are installed.
  bool crds = false;
};

}  // namespace mandate::conformance
