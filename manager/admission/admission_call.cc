#include "manager/admission/admission_call.h"

#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {

void SetVerdict(const absl::Status& status, AdmissionCall& call) {
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
  SetError(403, status, call);
}

void SetError(int code, const absl::Status& status, AdmissionCall& call) {
  call.response().set_allowed(false);
  call.response().mutable_status()->set_code(code);
  call.response().mutable_status()->set_message(std::string(status.message()));
}

}  // namespace mandate
