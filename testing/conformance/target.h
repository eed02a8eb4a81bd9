// The server that rows run on.
#ifndef TESTING_CONFORMANCE_TARGET_H_
#define TESTING_CONFORMANCE_TARGET_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "testing/conformance/http.h"

namespace mandate::conformance {

// A value.
struct Target {
  Connection connection;  // with the administrator's client certificate, unless there is a token
  std::string token;      // the administrator's

  // What was added to the audit log since the last call, JSON lines; called by one thread at a
  // time. None: rows that need the log do not run.
  std::function<std::string()> audit_log;
  // Makes the server forget what was before this resourceVersion; from any thread. None: rows that
  // need it do not run.
  std::function<absl::Status(const std::string& resource_version)> compact;
  // Restarts etcd, and returns when it is back; one row at a time. None: rows that need it do not
  // run.
  std::function<absl::Status()> restart_etcd;
  // The server keeps no watch cache of PodTemplates.
  bool uncached = false;
  // Rows that say that the double does otherwise must fail.
  bool is_double = false;
  // Whether the project's CRDs are installed.
  bool crds = false;
};

}  // namespace mandate::conformance

#endif  // TESTING_CONFORMANCE_TARGET_H_
