// An event of the API server's audit log (audit.k8s.io/v1), with the members that the reports need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "rbacgen/audit/event_body.h"

namespace mandate::rbacgen {

struct AuditEvent {
  std::string audit_id;
  std::string level;  // Metadata, Request, RequestResponse
  std::string stage;  // ResponseStarted, ResponseComplete, …
  std::string verb;
  std::string request_uri;
  std::string received;  // RFC 3339
  std::string user_agent;
  std::string username;      // the authenticated user; empty without authentication
  std::string impersonated;  // the impersonated user; usually empty
  bool masters = false;      // the authenticated or the impersonated user is in system:masters
  // user.extra["authentication.kubernetes.io/credential-id"], such as "JTI=<uuid>".
  std::vector<std::string> credential_ids;
  // The address of the connection: the last of sourceIPs, because a client can write the others.
  std::string source;
  // The pod that the token is bound to: user.extra["authentication.kubernetes.io/pod-name"], …-uid.
  std::string pod_name, pod_uid;
  bool has_object = false;
  std::string group, resource, subresource, ns, name;
  int code = 0;             // the response's code; 0 if there is no response
  bool forbidden = false;   // the authorizer denied the request
  bool authorized = false;  // the authorizer allowed it; false also if the event has no decision
  std::string reason;       // the authorizer's reason
  // The user may not impersonate. The event does not name the impersonated user, because the
  // request did not reach the authorizer.
  bool impersonation_refused = false;
  std::string issued_credential_id;  // the id of the token that the request made
  // Facts from the bodies, if the log has bodies and they follow objectRef, as the server writes
  // them.
  EventBody body;

  // The user whose rights the request used.
  const std::string& user() const { return impersonated.empty() ? username : impersonated; }
};

// Reads the text of one event. InvalidArgument if it is not a JSON object of kind Event in
// audit.k8s.io/v1. The items of an EventList have no kind, so an object without a kind is an event
// if it has an auditID, a level and a stage.
absl::Status ParseAuditEvent(std::string_view line, AuditEvent* event);

}  // namespace mandate::rbacgen
