// One event of the audit log (audit.k8s.io/v1, level Metadata), field by field as the API server
// writes it.
#ifndef TESTING_APISERVER_ACCESS_AUDIT_EVENT_H_
#define TESTING_APISERVER_ACCESS_AUDIT_EVENT_H_

#include <jsoncpp/json/json.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "testing/apiserver/request.h"

namespace mandate::apiserver {

// Of a request that has been answered, or begins to be. `status` is ResponseStatus() of the answer.
Json::Value AuditEvent(const Request& request, std::string_view audit_id, std::string_view stage,
                       absl::Time stage_time, const Json::Value& status);

// Its responseStatus: the code and, where the body is a Status, what that says.
Json::Value ResponseStatus(const Response& response);

// Where the request came from, as its headers claim, and at last who sent it.
std::vector<std::string> SourceIps(const Request& request);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_AUDIT_EVENT_H_
