// One AdmissionReview that is being answered, as its handler sees it.
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "k8s.io/api/authentication/v1/generated.pb.h"
#include "manager/admission/review.h"
#include "manager/core/call_context.h"

namespace mandate {

// Used by one thread, while the handler runs.
class AdmissionCall {
 public:
  AdmissionCall(CallContext context, const AdmissionRequest& request)
      : context_(std::move(context)), request_(request) {}

  // Its deadline is that of the review: what the handler asks with it ends in time.
  const CallContext& context() const { return context_; }
  const AdmissionRequest& request() const { return request_; }
  // The user who writes the object.
  const ::k8s::io::api::authentication::v1::UserInfo& user() const { return request_.userinfo(); }
  // The write will not be stored: the handler must change nothing outside the object.
  bool dry_run() const { return request_.dryrun(); }

  // Shown to the user by kubectl. The server cuts warnings: keep each below 120 bytes.
  void Warn(std::string warning) { *response_.add_warnings() = std::move(warning); }
  // An annotation of the audit event; the server puts the webhook's name before the key.
  void AddAuditAnnotation(const std::string& key, std::string value) {
    (*response_.mutable_auditannotations())[key] = std::move(value);
  }

  // The answer so far, with the warnings and annotations. The handler completes it.
  AdmissionResponse& response() { return response_; }

  // The object could not be checked, for the reason `why`, which is not OK. The review then gets an
  // HTTP error, so that the failurePolicy of its configuration decides, and the response is not
  // sent.
  void SetCheckError(absl::Status why) { check_error_ = std::move(why); }
  const absl::Status& check_error() const { return check_error_; }

 private:
  const CallContext context_;
  const AdmissionRequest& request_;
  AdmissionResponse response_;
  absl::Status check_error_;
};

// Sets `call.response()`; `allowed` is false unless it says otherwise. May block until the call's
// deadline; runs on a thread of its component. An exception is a 500.
using AdmissionHandler = std::function<void(AdmissionCall& call)>;

// Whether the error says that we, or an API server that we asked, could not answer at this time:
// kUnavailable, kDeadlineExceeded, kCancelled, or an API server's 429 or 5xx. It says nothing about
// the object.
bool IsCheckFailure(const absl::Status& status);

// The answer of a handler that checked the object: allowed if `status` is OK. A status for which
// IsCheckFailure() holds is one of SetCheckError(). Another error that came from an API server is
// passed on as it is; each other error is 403 Forbidden with its message, as controller-runtime
// answers.
void SetVerdict(const absl::Status& status, AdmissionCall& call);

// The answer to a review that could not be checked: not allowed, with the HTTP code `code`.
void SetErrorResponse(int code, const absl::Status& status, AdmissionCall& call);

}  // namespace mandate
