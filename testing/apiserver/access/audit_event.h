// One event of the audit log (audit.k8s.io/v1, level Metadata), field by field as the API server
// writes it.
#pragma once

#include <jsoncpp/json/json.h>

#include <string_view>

#include "absl/time/time.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// The event of a request whose response has started or is complete. `status` is ResponseStatus() of
// this response.
Json::Value AuditEvent(const Request& request, std::string_view audit_id, std::string_view stage,
                       absl::Time stage_time, const Json::Value& status);

// The event's responseStatus: the code and, if the body is a Status, its fields.
Json::Value ResponseStatus(const Response& response);

}  // namespace mandate::apiserver
