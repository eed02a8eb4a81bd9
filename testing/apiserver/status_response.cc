#include "testing/apiserver/status_response.h"

#include <string>

#include "manager/object/object_codec.h"
#include "testing/apiserver/errors.h"
#include "testing/apiserver/negotiation.h"

namespace mandate::apiserver {
namespace {

constexpr KindInfo kStatusKind = {.group = "", .version = "v1", .kind = "Status", .plural = ""};

}  // namespace

ApiStatusProto StatusOf(const absl::Status& status) {
  ApiStatusProto out;
  if (auto api = ApiStatus(status)) {
    out = *std::move(api);
    if (out.reason() == kNoReason) out.clear_reason();
  } else {
    out.set_code(500);
    out.set_reason("InternalError");
    out.set_message("Internal error occurred: " + std::string(status.message()));
  }
  out.set_status("Failure");
  out.mutable_metadata();
  return out;
}

Response StatusResponse(const absl::Status& status, const Request& request) {
  const ApiStatusProto api = StatusOf(status);
  const Encoding encoding = AcceptedEncoding(request).value_or(Encoding::kJson);
  Response response = {.code = api.code(), .headers = {}, .body = ""};
  response.headers.emplace_back("content-type", std::string(MediaType(encoding)));
  if (api.details().retryafterseconds() > 0) {
    response.headers.emplace_back("retry-after", std::to_string(api.details().retryafterseconds()));
  }
  auto body = EncodeObject(api, kStatusKind, encoding);
  response.body = body.ok() ? *std::move(body) : std::string(body.status().message());
  return response;
}

}  // namespace mandate::apiserver
