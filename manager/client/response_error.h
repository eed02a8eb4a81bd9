// What an answer other than success means to a caller.
#ifndef MANAGER_CLIENT_RESPONSE_ERROR_H_
#define MANAGER_CLIENT_RESPONSE_ERROR_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "manager/identity/anonymous.h"
#include "manager/object/api_error.h"
#include "manager/transport/transport.h"

namespace mandate {

inline bool IsSuccess(const HttpResponse& response) {
  return response.code >= 200 && response.code < 300;
}

// Of a response that is no success: the server's metav1.Status as payload. A 403 as
// system:anonymous becomes kUnauthenticated, as a 401 is: the credential was lost.
inline absl::Status ErrorOf(const HttpResponse& response) {
  absl::Status status = StatusFromResponse(response.code, response.body, response.retry_after);
  if (!IsAnonymous(status)) return status;
  absl::Status lost(absl::StatusCode::kUnauthenticated, status.message());
  status.ForEachPayload(
      [&lost](absl::string_view url, const absl::Cord& payload) { lost.SetPayload(url, payload); });
  return lost;
}

}  // namespace mandate

#endif  // MANAGER_CLIENT_RESPONSE_ERROR_H_
