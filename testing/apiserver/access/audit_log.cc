#include "testing/apiserver/access/audit_log.h"

#include <memory>
#include <utility>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/apiserver/access/audit_event.h"

namespace mandate::apiserver {
namespace {

constexpr std::string_view kAuditId = "audit-id";

}  // namespace

AuditLog::AuditLog(AuditSink sink, const Clock& clock, std::function<std::string()> new_uid)
    : sink_(std::move(sink)), clock_(clock), new_uid_(std::move(new_uid)) {}

void AuditLog::Write(const Request& request, std::string_view stage, const Json::Value& status) {
  sink_(WriteJson(
      AuditEvent(request, request.Header(kAuditId).value_or(""), stage, clock_.TimeNow(), status)));
}

void AuditLog::Watch(const std::shared_ptr<Exchange>& exchange) {
  Request& request = exchange->request();
  if (!request.Header(kAuditId)) request.headers.emplace_back(kAuditId, new_uid_());

  // The exchange owns both observers.
  const auto status = std::make_shared<Json::Value>();
  exchange->OnAnswer([this, status, &request](Response& response) {
    response.headers.emplace_back(kAuditId, *request.Header(kAuditId));
    for (const std::string& warning : request.notes->warnings) {
      response.headers.emplace_back("warning", StrCat("299 - ", WriteJson(Json::Value(warning))));
    }
    if (!sink_) return;
    *status = ResponseStatus(response);
    // The server writes a 401 at this stage, and no event follows.
    if (request.attributes.verb == "watch" || response.code == 401) {
      Write(request, "ResponseStarted", *status);
    }
  });
  if (!sink_) return;
  exchange->OnClosed([this, status, &request] {
    if (status->isNull()) {
      // The client closed the connection before the response.
      (*status)["metadata"] = Json::objectValue;
      (*status)["status"] = "Success";
      (*status)["message"] = "Connection closed early";
      (*status)["code"] = 200;
    }
    if ((*status)["code"] != 401) Write(request, "ResponseComplete", *status);
  });
}

}  // namespace mandate::apiserver
