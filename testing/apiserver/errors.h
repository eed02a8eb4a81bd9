// The API server's errors, in its words (k8s.io/apimachinery pkg/api/errors, release 1.36). Each
// is an absl::Status that carries its metav1.Status.
#ifndef TESTING_APISERVER_ERRORS_H_
#define TESTING_APISERVER_ERRORS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// One thing wrong with one field.
struct Cause {
  std::string reason;   // "FieldValueRequired"
  std::string message;  // "Required value: name or generateName is required"
  std::string field;    // "metadata.name"
};

// Of a field, as apimachinery's field.Error prints them. `value` as Go's %q or %v.
Cause RequiredField(std::string_view field, std::string_view detail);
Cause InvalidField(std::string_view field, std::string_view value, std::string_view detail);
Cause ForbiddenField(std::string_view field, std::string_view detail);
Cause UnsupportedValue(std::string_view field, std::string_view value,
                       const std::vector<std::string>& supported);

// Any other: details are empty where `kind` and `name` are.
absl::Status ApiErrorOf(int code, std::string_view reason, std::string_view message,
                        std::string_view group = "", std::string_view kind = "",
                        std::string_view name = "");

absl::Status BadRequest(std::string_view message);
absl::Status NotFoundError(const GroupResource& resource, std::string_view name);
// No such path: what an unknown resource or group is answered with.
absl::Status NoSuchResource();
struct TakenName {
  bool deleting = false;   // the one that is there waits for its finalizers
  bool generated = false;  // the object has a generateName
};
absl::Status AlreadyExistsError(const GroupResource& resource, std::string_view name,
                                TakenName taken = {});
absl::Status ConflictError(const GroupResource& resource, std::string_view name,
                           std::string_view message);
// The optimistic lock failed.
absl::Status ModifiedError(const GroupResource& resource, std::string_view name);
// `kind` of the object, not its resource.
absl::Status InvalidError(std::string_view group, std::string_view kind, std::string_view name,
                          const std::vector<Cause>& causes);
absl::Status ForbiddenError(const GroupResource& resource, std::string_view name,
                            std::string_view message);
absl::Status MethodNotAllowed();
// 500 without a reason, as errors that are no API errors show. What carries a Status gives every
// one a reason; this one is taken off again on its way out.
inline constexpr char kNoReason[] = "-";
absl::Status PlainError(std::string_view message);
absl::Status ExpiredError(std::string_view message);
// A resourceVersion that is yet to come.
absl::Status TooLargeVersion(int64_t wanted, int64_t current);
absl::Status TooManyRequests(std::string_view message, int retry_after_seconds);
// Of a request whose Accept header names nothing that can be written.
absl::Status NotAcceptableError(std::string_view types);
absl::Status UnsupportedMediaType(std::string_view types);
// The same of a patch.
absl::Status UnsupportedPatchType();
absl::Status InternalError(std::string_view message);

// What the double does not do, 501: "the double does not serve <what>; …".
absl::Status Unsupported(std::string_view what);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ERRORS_H_
