// The API server's errors: metav1.Status, carried in absl::Status.
//
// The absl code is the most specific one that applies; the server's own Status is a payload under
// kApiStatusUrl. Most predicates read the payload and so tell apart what one code lumps
// together.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "k8s.io/apimachinery/pkg/apis/meta/v1/generated.pb.h"

namespace mandate {

using ApiStatusProto = k8s::io::apimachinery::pkg::apis::meta::v1::Status;

inline constexpr std::string_view kApiStatusUrl =
    "type.googleapis.com/k8s.io.apimachinery.pkg.apis.meta.v1.Status";

// The longest message that an error keeps; of a longer one, the beginning. The server repeats names
// that its users have chosen: a denial names each Role that a binding refers to in vain.
inline constexpr size_t kMaxErrorMessage = 2048;

// The error of a response. `body` is a metav1.Status (JSON or protobuf) or anything at all, of
// which a bounded excerpt is kept; `retry_after` is the header's. HTTP code and reason decide:
//
//   400, 405, 406, 413, 415, 422  kInvalidArgument     401  kUnauthenticated
//   403  kPermissionDenied                             404  kNotFound
//   409  kAlreadyExists by its reason, else kAborted   410  kOutOfRange
//   408, 504  kDeadlineExceeded                        429  kResourceExhausted
//   500  kUnavailable by its reason ServerTimeout, which asks to retry, else kInternal
//   501  kUnimplemented                                502, 503 and other 5xx  kUnavailable
//
// Never OK: a 2xx code is kInternal, as the caller says that it is an error.
absl::Status StatusFromResponse(int http_code, std::string_view body,
                                std::optional<absl::Duration> retry_after = std::nullopt);

// The same from a Status that is at hand, such as a watch's ERROR event; its own code decides.
absl::Status StatusFromApi(const ApiStatusProto& status,
                           std::optional<absl::Duration> retry_after = std::nullopt);

// The payload; nullopt when the error did not come from an API server.
std::optional<ApiStatusProto> ApiStatus(const absl::Status& status);
// The payload's HTTP code; 0 without one.
int HttpCode(const absl::Status& status);
// The payload's reason, such as "AlreadyExists"; "" without one.
std::string ApiReason(const absl::Status& status);

// The longest wait that RetryAfter() reports: whatever a server, or something between, may ask.
inline constexpr absl::Duration kMaxRetryAfter = absl::Hours(1);

// How long the server asks to wait; of the header, else of the Status' details (also those of a
// watch's ERROR event).
std::optional<absl::Duration> RetryAfter(const absl::Status& status);
// The same error, of which RetryAfter() is `wait`.
absl::Status WithRetryAfter(absl::Status error, absl::Duration wait);

// These compare only the code (404, and 409 AlreadyExists), so they also fit the errors of a cache.
// (Functions of our own would be ambiguous with abseil's.)
using absl::IsAlreadyExists;
using absl::IsNotFound;

// These read only the server's answer.
bool IsConflict(const absl::Status& status);         // 409 that is not AlreadyExists
bool IsForbidden(const absl::Status& status);        // 403
bool IsUnauthorized(const absl::Status& status);     // 401
bool IsGone(const absl::Status& status);             // 410: Gone or Expired; list again
bool IsInvalid(const absl::Status& status);          // 422
bool IsBadRequest(const absl::Status& status);       // 400
bool IsTooManyRequests(const absl::Status& status);  // 429
// Whether an admission webhook denied the request. It chooses the code, the reason and the details,
// so none of them is evidence: a 404 does not mean that the object is absent.
bool IsDeniedByWebhook(const absl::Status& status);
// Whether the API server itself, not a webhook, answers about the object with this name.
bool IsServerErrorAbout(const absl::Status& status, std::string_view name);
// Whether the API server rejects a write because the object of this name was deleted, replaced or
// changed after it was read. Its event follows, so the write need not be tried again.
bool IsOutdated(const absl::Status& status, std::string_view name);
// 403 because the namespace is being deleted: nothing can be created in it any more.
bool IsNamespaceTerminating(const absl::Status& status);

}  // namespace mandate
