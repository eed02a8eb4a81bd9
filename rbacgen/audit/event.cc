#include "rbacgen/audit/event.h"

#include <charconv>

#include "manager/core/strings.h"
#include "manager/object/json_cursor.h"

namespace mandate::rbacgen {
namespace {

constexpr char kVersion[] = "audit.k8s.io/v1";
constexpr std::string_view kCredentialId = "authentication.kubernetes.io/credential-id";
constexpr std::string_view kIssuedCredentialId =
    "authentication.kubernetes.io/issued-credential-id";
constexpr std::string_view kPodName = "authentication.kubernetes.io/pod-name";
constexpr std::string_view kPodUid = "authentication.kubernetes.io/pod-uid";
constexpr std::string_view kReason = "authorization.k8s.io/reason";
constexpr std::string_view kDecision = "authorization.k8s.io/decision";

// The server omits empty members. Tools that ship logs may write null instead, which means the
// same.
bool SkipNull(JsonCursor& json) {
  return json.Peek() == JsonCursor::Token::kNull && json.ReadNull();
}

bool ReadText(JsonCursor& json, std::string* text) {
  std::string_view value;
  if (SkipNull(json)) return true;
  if (!json.ReadString(&value)) return false;
  text->assign(value);
  return true;
}

// Calls read(key) for each member; read() must consume the value.
template <class Read>
void ForEachMember(JsonCursor& json, Read read) {
  std::string_view key;
  if (SkipNull(json)) return;
  for (json.BeginObject(); json.NextMember(&key);) read(key);
}

template <class Read>
void ForEachString(JsonCursor& json, Read read) {
  std::string_view value;
  if (SkipNull(json)) return;
  for (json.BeginArray(); json.NextElement();) {
    if (json.ReadString(&value)) read(value);
  }
}

void ReadUser(JsonCursor& json, std::string* username, AuditEvent* event, bool authenticated) {
  ForEachMember(json, [&](std::string_view key) {
    if (key == "username") {
      ReadText(json, username);
    } else if (key == "groups") {
      ForEachString(json, [&](std::string_view group) {
        event->masters = event->masters || group == "system:masters";
      });
    } else if (key == "extra" && authenticated) {
      ForEachMember(json, [&](std::string_view name) {
        if (name == kCredentialId) {
          ForEachString(json, [&](std::string_view id) { event->credential_ids.emplace_back(id); });
        } else if (name == kPodName) {
          ForEachString(json, [&](std::string_view pod) { event->pod_name = pod; });
        } else if (name == kPodUid) {
          ForEachString(json, [&](std::string_view uid) { event->pod_uid = uid; });
        } else {
          json.SkipValue();
        }
      });
    } else {
      json.SkipValue();
    }
  });
}

void ReadObjectRef(JsonCursor& json, AuditEvent* event) {
  if (SkipNull(json)) return;
  event->has_object = true;
  ForEachMember(json, [&](std::string_view key) {
    std::string* const field = key == "apiGroup"      ? &event->group
                               : key == "resource"    ? &event->resource
                               : key == "subresource" ? &event->subresource
                               : key == "namespace"   ? &event->ns
                               : key == "name"        ? &event->name
                                                      : nullptr;
    if (field == nullptr) {
      json.SkipValue();
    } else {
      ReadText(json, field);
    }
  });
}

void ReadStatus(JsonCursor& json, AuditEvent* event) {
  ForEachMember(json, [&](std::string_view key) {
    if (key == "message") {
      // The message is "… is forbidden: User "u" cannot impersonate resource …", or has the verb
      // "impersonate-on:serviceaccount:create" (k8s.io/apiserver, filters/impersonation).
      std::string message;
      ReadText(json, &message);
      event->impersonation_refused = message.find("\" cannot impersonate") != message.npos;
      return;
    }
    if (key != "code") {
      json.SkipValue();
      return;
    }
    std::string_view number;
    if (!SkipNull(json) && json.ReadNumber(&number)) {
      std::from_chars(number.data(), number.data() + number.size(), event->code);
    }
  });
}

void ReadAnnotations(JsonCursor& json, AuditEvent* event) {
  ForEachMember(json, [&](std::string_view key) {
    if (key == kIssuedCredentialId) {
      ReadText(json, &event->issued_credential_id);
    } else if (key == kReason) {
      ReadText(json, &event->reason);
    } else if (key == kDecision) {
      std::string decision;
      ReadText(json, &decision);
      event->forbidden = decision == "forbid";
      event->authorized = decision == "allow";
    } else {
      json.SkipValue();
    }
  });
}

}  // namespace

absl::Status ParseAuditEvent(std::string_view line, AuditEvent* event) {
  *event = AuditEvent();
  JsonCursor json(line);
  std::string kind, version;
  ForEachMember(json, [&](std::string_view key) {
    std::string* const text = key == "kind"                       ? &kind
                              : key == "apiVersion"               ? &version
                              : key == "auditID"                  ? &event->audit_id
                              : key == "level"                    ? &event->level
                              : key == "stage"                    ? &event->stage
                              : key == "verb"                     ? &event->verb
                              : key == "requestURI"               ? &event->request_uri
                              : key == "requestReceivedTimestamp" ? &event->received
                              : key == "userAgent"                ? &event->user_agent
                                                                  : nullptr;
    if (text != nullptr) {
      ReadText(json, text);
    } else if (key == "user") {
      ReadUser(json, &event->username, event, /*authenticated=*/true);
    } else if (key == "impersonatedUser") {
      ReadUser(json, &event->impersonated, event, /*authenticated=*/false);
    } else if (key == "sourceIPs") {
      ForEachString(json, [&](std::string_view address) { event->source = address; });
    } else if (key == "objectRef") {
      ReadObjectRef(json, event);
    } else if ((key == "requestObject" || key == "responseObject") &&
               HasFacts(event->group, event->resource, event->subresource)) {
      ReadBody(json, event->resource, key == "requestObject", &event->body);
    } else if (key == "responseStatus") {
      ReadStatus(json, event);
    } else if (key == "annotations") {
      ReadAnnotations(json, event);
    } else {
      json.SkipValue();
    }
  });
  if (absl::Status status = json.Finish(); !status.ok()) return status;
  event->impersonation_refused = event->impersonation_refused && event->code == 403 &&
                                 event->impersonated.empty() && !event->authorized;
  if (kind == "Event" && version == kVersion) return absl::OkStatus();
  const bool is_item = kind.empty() && version.empty();
  if (is_item && !event->audit_id.empty() && !event->level.empty() && !event->stage.empty()) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      AsAbsl(StrCat("not an Event of ", kVersion, ": ",
                    is_item ? "it has no kind" : StrCat("kind ", kind, " of ", version))));
}

}  // namespace mandate::rbacgen
