// What the writes of one reconcile came to.
#ifndef CONTROLLERS_WRITE_LOG_H_
#define CONTROLLERS_WRITE_LOG_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/controller/reconciler.h"

namespace mandate {

// Remembers what failed, so that a reconcile tries everything and does not stop at the first
// failure. Not thread-safe.
class WriteLog {
 public:
  // `what` names the object in messages: "RoleBinding foo/reader-x".
  template <class T>
  void Add(std::string_view what, const absl::StatusOr<T>& written) {
    if (!written.ok()) Failed(what, written.status());
  }
  // A deletion. An object that is gone already, or replaced, is what was wanted.
  void AddRemoval(std::string_view what, const absl::Status& status);

  const std::vector<std::string>& failures() const { return failures_; }

  // What the reconcile returns: forbidden writes are tried again after `forbidden_retry`, as
  // nothing tells when a grant comes; other failures with the queue's growing delays.
  absl::StatusOr<Result> ToResult(absl::Duration forbidden_retry) const;

 private:
  void Failed(std::string_view what, const absl::Status& status);

  std::vector<std::string> failures_;
  absl::Status first_retryable_;
};

}  // namespace mandate

#endif  // CONTROLLERS_WRITE_LOG_H_
