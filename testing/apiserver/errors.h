// The API server's errors with its messages (k8s.io/apimachinery pkg/api/errors, release 1.36).
// Each is an absl::Status with the metav1.Status as payload.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// One error of one field.
struct Cause {
  std::string reason;   // "FieldValueRequired"
  std::string message;  // "Required value: name or generateName is required"
  std::string field;    // "metadata.name"
};

// Errors of a field, as apimachinery's field.Error prints them. `value` is formatted as by Go's %q
// or %v.
Cause RequiredField(std::string_view field, std::string_view detail);
Cause InvalidField(std::string_view field, std::string_view value, std::string_view detail);
Cause ForbiddenField(std::string_view field, std::string_view detail);
Cause UnsupportedValue(std::string_view field, std::string_view value,
                       const std::vector<std::string>& supported);

// Any other error. If `kind` and `name` are empty, it has no details.
absl::Status ApiErrorOf(int code, std::string_view reason, std::string_view message,
                        std::string_view group = "", std::string_view kind = "",
                        std::string_view name = "");

absl::Status BadRequest(std::string_view message);
absl::Status NotFoundError(const GroupResource& resource, std::string_view name);
// The response for an unknown resource or group.
absl::Status NoSuchResource();
struct TakenName {
  bool deleting = false;   // the existing object waits for its finalizers
  bool generated = false;  // the object has a generateName
};
absl::Status AlreadyExistsError(const GroupResource& resource, std::string_view name,
                                TakenName taken = {});
absl::Status ConflictError(const GroupResource& resource, std::string_view name,
                           std::string_view message);
// Another write changed the object first (optimistic locking).
absl::Status ModifiedError(const GroupResource& resource, std::string_view name);
// `kind` is the object's kind, not its resource.
absl::Status InvalidError(std::string_view group, std::string_view kind, std::string_view name,
                          const std::vector<Cause>& causes);
absl::Status ForbiddenError(const GroupResource& resource, std::string_view name,
                            std::string_view message);
absl::Status MethodNotAllowed();
// 500 without a reason: the response for an error of the server that is not an API error. Every
// payload needs a reason, so the encoder removes this one.
inline constexpr char kNoReason[] = "-";
absl::Status PlainError(std::string_view message);
absl::Status ExpiredError(std::string_view message);
// The requested resourceVersion is higher than the current one.
absl::Status TooLargeVersion(int64_t wanted, int64_t current);
absl::Status TooManyRequests(std::string_view message, int retry_after_seconds);
// The Accept header has no media type that the server can write.
absl::Status NotAcceptableError(std::string_view types);
absl::Status UnsupportedMediaType(std::string_view types);
// The same error for a patch.
absl::Status UnsupportedPatchType();
absl::Status InternalError(std::string_view message);

// 501 for a feature that the double does not support: "the double does not serve <what>; …".
absl::Status Unsupported(std::string_view what);

}  // namespace mandate::apiserver
