// The events of the API server's audit log, by request.
#pragma once

#include <jsoncpp/json/json.h>

#include <functional>
#include <map>
#include <string>

#include "absl/base/thread_annotations.h"
#include "manager/core/mutex.h"

namespace mandate::conformance {

// Thread-safe.
class AuditLog {
 public:
  // `more` returns the bytes that were added to the log since its last call, which may end
  // anywhere.
  explicit AuditLog(std::function<std::string()> more) : more_(std::move(more)) {}

  // The events of this auditID so far, as an array in the order of the log.
  Json::Value EventsOf(const std::string& audit_id);

 private:
  Mutex mutex_;
  const std::function<std::string()> more_ ABSL_GUARDED_BY(mutex_);
  std::string rest_ ABSL_GUARDED_BY(mutex_);  // an unfinished line
  std::map<std::string, Json::Value> events_ ABSL_GUARDED_BY(mutex_);
};

// Returns a function that reads what is appended to the file from now on.
std::function<std::string()> FollowFile(const std::string& path);

}  // namespace mandate::conformance
