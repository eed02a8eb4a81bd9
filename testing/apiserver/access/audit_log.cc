#include "testing/apiserver/access/audit_log.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "testing/apiserver/access/audit_event.h"

namespace mandate::apiserver {
namespace {

constexpr std::string_view kAuditId = "audit-id";

bool Matches(const std::vector<std::string>& list, const std::string& value) {
  return list.empty() || std::find(list.begin(), list.end(), value) != list.end();
}

}  // namespace

bool IsAudited(const std::vector<AuditRule>& rules, const Request& request) {
  const rbac::Attributes& attributes = request.attributes;
  for (const AuditRule& rule : rules) {
    const bool resource = rule.resources.empty() || (attributes.is_resource_request &&
                                                     Matches(rule.resources, attributes.resource));
    if (resource && Matches(rule.users, request.user.name) &&
        Matches(rule.verbs, attributes.verb) && Matches(rule.namespaces, attributes.ns)) {
      return rule.log;
    }
  }
  return false;
}

AuditLog::AuditLog(AuditOptions options, const Clock& clock, std::function<std::string()> new_uid)
    : options_(std::move(options)), clock_(clock), new_uid_(std::move(new_uid)) {}

void AuditLog::Write(const Request& request, std::string_view stage, const Json::Value& status) {
  if (!options_.sink || options_.omit_stages.contains(stage)) return;
  if (!IsAudited(options_.rules, request)) return;
  options_.sink(WriteJson(
      AuditEvent(request, request.Header(kAuditId).value_or(""), stage, clock_.TimeNow(), status)));
}

void AuditLog::Received(const Exchange& exchange) {
  Write(exchange.request(), "RequestReceived", Json::Value());
}

void AuditLog::Watch(const std::shared_ptr<Exchange>& exchange) {
  Request& request = exchange->request();
  if (!request.Header(kAuditId)) request.headers.emplace_back(kAuditId, new_uid_());

  // Both observers are the exchange's own and do not outlive it.
  const auto status = std::make_shared<Json::Value>();
  exchange->OnAnswer([this, status, &request](Response& response) {
    response.headers.emplace_back(kAuditId, *request.Header(kAuditId));
    for (const std::string& warning : request.notes->warnings) {
      response.headers.emplace_back("warning", StrCat("299 - ", WriteJson(Json::Value(warning))));
    }
    if (!options_.sink) return;
    *status = ResponseStatus(response);
    // What fails to authenticate is told at once, and nothing follows.
    if (request.attributes.verb == "watch" || response.code == 401) {
      Write(request, "ResponseStarted", *status);
    }
  });
  if (!options_.sink) return;
  exchange->OnClosed([this, status, &request] {
    if (status->isNull()) {
      // The client left before there was an answer.
      (*status)["metadata"] = Json::objectValue;
      (*status)["status"] = "Success";
      (*status)["message"] = "Connection closed early";
      (*status)["code"] = 200;
    }
    if ((*status)["code"] != 401) Write(request, "ResponseComplete", *status);
  });
}

}  // namespace mandate::apiserver
