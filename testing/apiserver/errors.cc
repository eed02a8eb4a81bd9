#include "testing/apiserver/errors.h"

#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/rbac/quote.h"

namespace mandate::apiserver {
namespace {

ApiStatusProto Proto(int code, std::string_view reason, std::string_view message) {
  ApiStatusProto status;
  status.set_status("Failure");
  status.set_code(code);
  status.set_reason(std::string(reason));
  status.set_message(std::string(message));
  status.mutable_metadata();
  return status;
}

void SetDetails(ApiStatusProto& status, std::string_view group, std::string_view kind,
                std::string_view name) {
  auto* details = status.mutable_details();
  if (!group.empty()) details->set_group(std::string(group));
  if (!kind.empty()) details->set_kind(std::string(kind));
  if (!name.empty()) details->set_name(std::string(name));
}

// The resource with its group: "roles.rbac.authorization.k8s.io".
std::string Qualified(std::string_view group, std::string_view what) {
  return group.empty() ? std::string(what) : StrCat(what, ".", group);
}

}  // namespace

Cause RequiredField(std::string_view field, std::string_view detail) {
  return {"FieldValueRequired", StrCat("Required value", detail.empty() ? "" : ": ", detail),
          std::string(field)};
}

Cause InvalidField(std::string_view field, std::string_view value, std::string_view detail) {
  return {"FieldValueInvalid", StrCat("Invalid value: ", value, detail.empty() ? "" : ": ", detail),
          std::string(field)};
}

Cause ForbiddenField(std::string_view field, std::string_view detail) {
  return {"FieldValueForbidden", StrCat("Forbidden", detail.empty() ? "" : ": ", detail),
          std::string(field)};
}

Cause UnsupportedValue(std::string_view field, std::string_view value,
                       const std::vector<std::string>& supported) {
  std::string list;
  for (const std::string& one : supported) {
    StrAppend(&list, list.empty() ? "" : ", ", rbac::Quote(one));
  }
  return {"FieldValueNotSupported",
          StrCat("Unsupported value: ", value, ": supported values: ", list), std::string(field)};
}

absl::Status ApiErrorOf(int code, std::string_view reason, std::string_view message,
                        std::string_view group, std::string_view kind, std::string_view name) {
  ApiStatusProto status = Proto(code, reason, message);
  if (!kind.empty() || !name.empty() || !group.empty()) SetDetails(status, group, kind, name);
  return StatusFromApi(status);
}

absl::Status BadRequest(std::string_view message) { return ApiErrorOf(400, "BadRequest", message); }

absl::Status NotFoundError(const GroupResource& resource, std::string_view name) {
  return ApiErrorOf(
      404, "NotFound",
      StrCat(Qualified(resource.group, resource.resource), " ", rbac::Quote(name), " not found"),
      resource.group, resource.resource, name);
}

absl::Status NoSuchResource() {
  ApiStatusProto status =
      Proto(404, "NotFound", "the server could not find the requested resource");
  status.mutable_details();
  return StatusFromApi(status);
}

absl::Status AlreadyExistsError(const GroupResource& resource, std::string_view name,
                                TakenName taken) {
  ApiStatusProto status = Proto(
      409, "AlreadyExists",
      StrCat(taken.deleting ? "object is being deleted: " : "",
             Qualified(resource.group, resource.resource), " ", rbac::Quote(name),
             " already exists",
             taken.generated ? ", the server was not able to generate a unique name for the object"
                             : ""));
  SetDetails(status, resource.group, resource.resource, name);
  if (taken.generated) status.mutable_details()->set_retryafterseconds(1);
  return StatusFromApi(status);
}

absl::Status ConflictError(const GroupResource& resource, std::string_view name,
                           std::string_view message) {
  return ApiErrorOf(
      409, "Conflict",
      StrCat("Operation cannot be fulfilled on ", Qualified(resource.group, resource.resource), " ",
             rbac::Quote(name), ": ", message),
      resource.group, resource.resource, name);
}

absl::Status ModifiedError(const GroupResource& resource, std::string_view name) {
  return ConflictError(resource, name,
                       "the object has been modified; please apply your changes to the latest "
                       "version and try again");
}

absl::Status InvalidError(std::string_view group, std::string_view kind, std::string_view name,
                          const std::vector<Cause>& causes) {
  std::string all;
  for (const Cause& cause : causes) {
    StrAppend(&all, all.empty() ? "" : ", ", cause.field, ": ", cause.message);
  }
  if (causes.size() > 1) all = StrCat("[", all, "]");
  ApiStatusProto status = Proto(
      422, "Invalid", StrCat(Qualified(group, kind), " ", rbac::Quote(name), " is invalid: ", all));
  SetDetails(status, group, kind, name);
  for (const Cause& cause : causes) {
    auto* out = status.mutable_details()->add_causes();
    out->set_reason(cause.reason);
    out->set_message(cause.message);
    out->set_field(cause.field);
  }
  return StatusFromApi(status);
}

absl::Status ForbiddenError(const GroupResource& resource, std::string_view name,
                            std::string_view message) {
  const std::string what = Qualified(resource.group, resource.resource);
  return ApiErrorOf(403, "Forbidden",
                    name.empty() ? StrCat(what, " is forbidden: ", message)
                                 : StrCat(what, " ", rbac::Quote(name), " is forbidden: ", message),
                    resource.group, resource.resource, name);
}

absl::Status MethodNotAllowed() {
  ApiStatusProto status = Proto(405, "MethodNotAllowed",
                                "the server does not allow this method on the requested resource");
  status.mutable_details();
  return StatusFromApi(status);
}

absl::Status PlainError(std::string_view message) { return ApiErrorOf(500, kNoReason, message); }

absl::Status ExpiredError(std::string_view message) { return ApiErrorOf(410, "Expired", message); }

absl::Status TooLargeVersion(int64_t wanted, int64_t current) {
  ApiStatusProto status =
      Proto(504, "Timeout",
            StrCat("Timeout: Too large resource version: ", wanted, ", current: ", current));
  auto* cause = status.mutable_details()->add_causes();
  cause->set_reason("ResourceVersionTooLarge");
  cause->set_message("Too large resource version");
  status.mutable_details()->set_retryafterseconds(1);
  return StatusFromApi(status);
}

absl::Status TooManyRequests(std::string_view message, int retry_after_seconds) {
  ApiStatusProto status = Proto(429, "TooManyRequests", message);
  status.mutable_details()->set_retryafterseconds(retry_after_seconds);
  return StatusFromApi(status);
}

absl::Status NotAcceptableError(std::string_view types) {
  ApiStatusProto status = Proto(
      406, "NotAcceptable", StrCat("406: Not Acceptable\n\nAvailable representations: ", types));
  status.mutable_details();
  return StatusFromApi(status);
}

absl::Status UnsupportedPatchType() {
  ApiStatusProto status = Proto(415, "UnsupportedMediaType", "415: Unsupported Media Type");
  status.mutable_details();
  return StatusFromApi(status);
}

absl::Status UnsupportedMediaType(std::string_view types) {
  return ApiErrorOf(415, "UnsupportedMediaType",
                    StrCat("the body of the request was in an unknown format - accepted media "
                           "types include: ",
                           types));
}

absl::Status InternalError(std::string_view message) {
  ApiStatusProto status = Proto(500, "InternalError", StrCat("Internal error occurred: ", message));
  status.mutable_details()->add_causes()->set_message(std::string(message));
  return StatusFromApi(status);
}

absl::Status Unsupported(std::string_view what) {
  return ApiErrorOf(501, "NotImplemented",
                    StrCat("the double does not serve ", what,
                           "; run this against a real API server (hack/cluster)"));
}

}  // namespace mandate::apiserver
