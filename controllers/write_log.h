// The outcome of the writes of one reconcile.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/controller/reconciler.h"

namespace mandate {

// A log of failed writes, so that a reconcile tries all writes and does not stop at the first
// failure. Not thread-safe.
class WriteLog {
 public:
  // Without `patient`, a write that ran out of time is not a failure: it is tried again with more
  // time.
  explicit WriteLog(bool patient = true) : patient_(patient) {}

  // `what` names the object in messages: "RoleBinding foo/reader-x".
  template <class T>
  void Add(std::string_view what, const absl::StatusOr<T>& written) {
    if (!written.ok()) Failed(what, written.status(), failures_);
  }
  // A deletion of the object with this name, on condition of its UID. It has succeeded if the
  // object is gone already or replaced.
  void AddRemoval(std::string_view what, std::string_view name, const absl::Status& status);
  // The server's response to a write, or the object after it, differs from the written object. This
  // is not an error: the caller retries slowly (ObjectFixLimiter).
  void AddDifference(std::string_view what, std::string_view difference);
  // The API server has marked the object as deleted, but finalizers keep it. This is not an error:
  // an event will report its deletion.
  void AddPending(std::string_view what);
  // A deletion on condition of a version that is outdated: it is decided again.
  void AddOutdated(std::string_view what, const absl::Status& conflict);
  // Writes that were not tried.
  void AddSkipped(std::string text) { failures_.push_back(std::move(text)); }

  const std::vector<std::string>& failures() const { return failures_; }
  // Failures of deletions, and those that are pending.
  const std::vector<std::string>& removal_failures() const { return removal_failures_; }
  bool forbidden() const { return forbidden_; }
  bool differs() const { return differs_; }
  bool pending() const { return pending_; }

  // The longest wait that the server has asked for since the last call; zero: none.
  absl::Duration TakeRetryAfter() { return std::exchange(retry_after_, absl::ZeroDuration()); }

  // Whether a write has run out of its time since the last call.
  bool TakeCutShort() { return std::exchange(cut_short_, false); }

  // The result of the reconcile: forbidden writes are tried again after `forbidden_retry`, because
  // no event reports a new grant; other failures with the queue's growing delays.
  absl::StatusOr<Result> ToResult(absl::Duration forbidden_retry) const;

 private:
  void Failed(std::string_view what, const absl::Status& status, std::vector<std::string>& list);

  const bool patient_;
  bool cut_short_ = false;
  std::vector<std::string> failures_;
  std::vector<std::string> removal_failures_;
  bool forbidden_ = false;
  bool differs_ = false;
  bool pending_ = false;
  absl::Duration retry_after_ = absl::ZeroDuration();
  absl::Status first_retryable_;
};

}  // namespace mandate
