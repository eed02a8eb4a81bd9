#include "manager/admission/admission_call.h"

#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {

bool IsCheckFailure(const absl::Status& status) {
  if (const std::optional<ApiStatusProto> api = ApiStatus(status); api.has_value()) {
    return api->code() == 429 || api->code() >= 500;
  }
  return absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status) ||
         absl::IsCancelled(status);
}

void SetVerdict(const absl::Status& status, AdmissionCall& call) {
  if (IsCheckFailure(status)) {
    call.SetCheckError(status);
    return SetErrorResponse(absl::IsDeadlineExceeded(status) ? 504 : 500, status, call);
  }
  AdmissionResponse& response = call.response();
  response.set_allowed(status.ok());
  if (status.ok()) {
    response.mutable_status()->set_code(200);
    return;
  }
  if (std::optional<ApiStatusProto> api = ApiStatus(status)) {
    *response.mutable_status() = *std::move(api);
    return;
  }
  response.mutable_status()->set_reason("Forbidden");
  SetErrorResponse(403, status, call);
}

void SetErrorResponse(int code, const absl::Status& status, AdmissionCall& call) {
  call.response().set_allowed(false);
  call.response().mutable_status()->set_code(code);
  call.response().mutable_status()->set_message(std::string(status.message()));
}

}  // namespace mandate
