// Translates an answer other than success into a status.
#pragma once

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "manager/identity/anonymous.h"
#include "manager/object/api_error.h"
#include "manager/transport/transport.h"

namespace mandate {

inline bool IsSuccess(const HttpResponse& response) {
  return response.code >= 200 && response.code < 300;
}

// For a response other than success: the server's metav1.Status is the payload. kUnauthenticated
// means that the credential was lost; that includes a 403 as system:anonymous. A 401 by an
// admission webhook is kPermissionDenied, because the server calls webhooks only for requests of a
// known user.
inline absl::Status ErrorOf(const HttpResponse& response) {
  absl::Status status = StatusFromResponse(response.code, response.body, response.retry_after);
  absl::StatusCode code = status.code();
  if (IsAnonymous(status)) code = absl::StatusCode::kUnauthenticated;
  if (IsUnauthorized(status) && IsDeniedByWebhook(status)) {
    code = absl::StatusCode::kPermissionDenied;
  }
  if (code == status.code()) return status;
  absl::Status result(code, status.message());
  status.ForEachPayload([&result](absl::string_view url, const absl::Cord& payload) {
    result.SetPayload(url, payload);
  });
  return result;
}

}  // namespace mandate
