#include "rbacgen/audit/ledger.h"

#include <algorithm>
#include <utility>

#include "manager/core/strings.h"
#include "manager/rbac/request_info.h"
#include "manager/rbac/user.h"
#include "rbacgen/world/rights.h"
#include "rbacgen/world/words.h"

namespace mandate::rbacgen {
namespace {

// The maximum number of namespaces that are kept for one operation.
constexpr size_t kMaxNamespaces = 50;

std::string_view MethodOf(const AuditEvent& event) {
  if (event.verb == "create") return "POST";
  if (event.verb == "update") return "PUT";
  if (event.verb == "patch") return "PATCH";
  if (event.verb == "delete" || event.verb == "deletecollection") return "DELETE";
  return "GET";
}

rbac::Attributes FromObjectRef(const AuditEvent& event) {
  rbac::Attributes a;
  a.verb = event.verb;
  a.is_resource_request = event.has_object;
  if (!event.has_object) {
    a.path = event.request_uri.substr(0, event.request_uri.find('?'));
    return a;
  }
  a.api_group = event.group;
  a.resource = event.resource;
  a.subresource = event.subresource;
  a.ns = event.ns;
  // A POST's name comes from its body, which the authorizer does not see.
  if (event.verb != "create" || !event.subresource.empty()) a.name = event.name;
  return a;
}

// Removes `lead` and the quoted text after it from the front of `text`; `value` is that text.
bool TakeQuoted(std::string_view* text, std::string_view lead, std::string* value) {
  if (!text->starts_with(lead)) return false;
  text->remove_prefix(lead.size());
  if (!text->starts_with('"')) return false;
  const size_t end = text->find('"', 1);
  if (end == text->npos) return false;
  *value = text->substr(1, end - 1);
  text->remove_prefix(end + 1);
  return true;
}

// Whether the request asks which kinds the server has (the paths of the role system:discovery).
// Every authenticated user may do this, so it does not matter which binding allows it.
bool IsDiscovery(const rbac::Attributes& request) {
  if (request.is_resource_request || (request.verb != "get" && request.verb != "head")) {
    return false;
  }
  for (const std::string_view path : {"/api", "/apis", "/openapi", "/version"}) {
    if (!std::string_view(request.path).starts_with(path)) continue;
    if (request.path.size() == path.size() || request.path[path.size()] == '/') return true;
  }
  return false;
}

// A 403 may also come from admission or the escalation check, after the authorizer allowed the
// request.
bool IsDenied(const AuditEvent& event) {
  return event.forbidden || (event.code == 403 && !event.authorized);
}

}  // namespace

rbac::Attributes AttributesOfEvent(const AuditEvent& event) {
  auto parsed = rbac::AttributesOf(MethodOf(event), event.request_uri);
  if (!parsed.ok()) return FromObjectRef(event);
  // The method may be another one: HEAD, OPTIONS, or a websocket to pods/exec.
  if (!parsed->is_resource_request) parsed->verb = event.verb;
  if (parsed->verb != event.verb || (event.has_object && parsed->resource != event.resource)) {
    return FromObjectRef(event);
  }
  return *std::move(parsed);
}

std::optional<AllowedBy> ParseReason(std::string_view reason) {
  constexpr std::string_view kLead = "RBAC: allowed by ";
  if (!reason.starts_with(kLead)) return std::nullopt;
  reason.remove_prefix(kLead.size());
  AllowedBy by;
  std::string name;
  for (const std::string_view kind : {"ClusterRoleBinding ", "RoleBinding "}) {
    if (!TakeQuoted(&reason, kind, &name)) continue;
    by.binding = StrCat(kind, "\"", name, "\"");
    break;
  }
  if (by.binding.empty()) return std::nullopt;
  if (!TakeQuoted(&reason, " of ClusterRole ", &by.role) &&
      !TakeQuoted(&reason, " of Role ", &by.role)) {
    return std::nullopt;
  }
  if (!reason.starts_with(" to ")) return std::nullopt;
  by.subject = reason.substr(4);
  return by;
}

bool IsEverybodys(const AllowedBy& allowed, const rbac::Attributes& request) {
  std::string_view subject = allowed.subject;
  std::string group;
  if (!TakeQuoted(&subject, "Group ", &group)) return false;
  return std::ranges::any_of(EverybodysRules(allowed.role, group), [&](const rbac::Rule& rule) {
    return rbac::RuleAllows(rule, request);
  });
}

std::string OperationWords(const rbac::Attributes& request) {
  if (!request.is_resource_request) return StrCat(request.verb, " ", request.path);
  return StrCat(
      request.verb, " ",
      ResourceWords(request.api_group, request.subresource.empty()
                                           ? request.resource
                                           : StrCat(request.resource, "/", request.subresource)));
}

void Ledger::Declare(const std::string& component, std::vector<RuleAtom> declared,
                     std::vector<RuleAtom> granted) {
  identities_.try_emplace(component, std::move(declared), std::move(granted));
}

void Ledger::Note(const AuditEvent& event, const std::string& component,
                  const std::string& bearer) {
  const auto found = identities_.find(component);
  const rbac::Attributes request = AttributesOfEvent(event);
  if (found != identities_.end()) NoteUse(event, request, &found->second);
  if (event.impersonated.empty() || bearer.empty()) return;
  if (const auto its = identities_.find(bearer); its != identities_.end()) {
    NoteImpersonation(event, request, &its->second);
  }
}

Unexplained* Ledger::Entry(std::map<std::string, Unexplained>* entries, std::string key,
                           const AuditEvent& event, const rbac::Attributes& request,
                           IdentityLedger* ledger) {
  const auto known = entries->find(key);
  if (known == entries->end() && entries->size() >= max_unexplained_) {
    ledger->left_out = true;
    return nullptr;
  }
  Unexplained& entry = known != entries->end() ? known->second : (*entries)[std::move(key)];
  if (entry.count++ == 0) {
    entry.example = request;
    entry.when = event.received;
    entry.audit_id = event.audit_id;
  }
  return &entry;
}

void Ledger::NoteUse(const AuditEvent& event, const rbac::Attributes& request,
                     IdentityLedger* ledger) {
  ++ledger->requests;
  if (event.code == 401) return;  // the request has no user
  if (IsDenied(event)) {
    NoteDenied(event, request, ledger);
    return;
  }
  if (event.code == 403) Entry(&ledger->refused, OperationWords(request), event, request, ledger);
  NoteRight(event, request, ledger);
  // An apply or update that made the object also needed "create" for that name.
  if (event.code == 201 && (event.verb == "patch" || event.verb == "update")) {
    rbac::Attributes create = request;
    create.verb = "create";
    NoteRight(event, create, ledger);
  }
}

// A denied request uses no right, and does not prove that a right is needed.
void Ledger::NoteDenied(const AuditEvent& event, const rbac::Attributes& request,
                        IdentityLedger* ledger) {
  bool declared = false, external = true;
  for (const RuleAtom& atom : ledger->declared.atoms()) {
    const bool scoped = atom.ns.empty() || atom.ns == request.ns;
    if (!scoped || !rbac::RuleAllows(atom.rule, request)) continue;
    declared = true;
    external = external && atom.external;
  }
  auto* const entries = declared && external ? &ledger->not_granted : &ledger->denied;
  Unexplained* entry = Entry(entries, OperationWords(request), event, request, ledger);
  if (entry != nullptr && entry->count == 1) entry->declared = declared;
}

void Ledger::NoteRight(const AuditEvent& event, const rbac::Attributes& request,
                       IdentityLedger* ledger) {
  ledger->granted.Note(request);
  if (!ledger->declared.Note(request)) NoteUndeclared(event, request, ledger);
}

void Ledger::NoteUndeclared(const AuditEvent& event, const rbac::Attributes& request,
                            IdentityLedger* ledger) {
  if (IsDiscovery(request)) return;
  auto by = ParseReason(event.reason);
  if (by && IsEverybodys(*by, request)) return;
  if (!by)
    by = AllowedBy{event.reason.empty() ? "the authorizer, which gave no reason" : event.reason, "",
                   ""};
  Unexplained* entry =
      Entry(&ledger->undeclared, StrCat(OperationWords(request), "\n", by->binding), event, request,
            ledger);
  if (entry == nullptr) return;
  entry->by = *std::move(by);
  if (entry->namespaces.size() < kMaxNamespaces) entry->namespaces.insert(request.ns);
}

void Ledger::NoteImpersonation(const AuditEvent& event, const rbac::Attributes& request,
                               IdentityLedger* bearer) {
  // The server checks these rights with its authorizer, but logs no event for them.
  bool declared = false;
  const auto note = [&](const rbac::Attributes& a) {
    declared = bearer->declared.Note(a) || declared;
    bearer->granted.Note(a);
  };
  rbac::Attributes whom;
  whom.verb = "impersonate";
  whom.resource = "users";
  whom.name = event.impersonated;
  note(whom);
  if (const auto account = rbac::ParseServiceAccountUser(event.impersonated)) {
    whom.resource = "serviceaccounts";
    whom.ns = account->ns;
    whom.name = account->name;
    note(whom);
    // The rights of constrained impersonation.
    rbac::Attributes constrained = whom;
    constrained.verb = "impersonate:serviceaccount";
    constrained.api_group = "authentication.k8s.io";
    note(constrained);
    rbac::Attributes on = request;
    on.verb = StrCat("impersonate-on:serviceaccount:", request.verb);
    note(on);
  }
  // The log does not show which of these rights the request used; one of them must be declared.
  const bool carried_out = event.code != 401 && !IsDenied(event);
  if (!declared && carried_out) NoteUndeclared(event, whom, bearer);
}

}  // namespace mandate::rbacgen
