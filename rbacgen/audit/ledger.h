// A record of the rights that each identity used, compared with its declared and granted rights.
// Memory does not grow with the log.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "manager/rbac/rule.h"
#include "rbacgen/audit/event.h"
#include "rbacgen/audit/rule_use.h"

namespace mandate::rbacgen {

// The attributes of a request that the API server's authorizer saw: from the verb and URI, or from
// objectRef if the two differ.
rbac::Attributes AttributesOfEvent(const AuditEvent& event);

// The parts of the server's reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to
// Group "g"'.
struct AllowedBy {
  std::string binding;  // 'ClusterRoleBinding "b"'
  std::string role;     // "r"
  std::string subject;  // 'Group "g"'
};
std::optional<AllowedBy> ParseReason(std::string_view reason);
// Whether Kubernetes' own policy uses this role to allow the request to all users (discovery,
// reviews of a user's own rights). A cluster's role with the same name may allow more.
bool IsEverybodys(const AllowedBy& allowed, const rbac::Attributes& request);

// Requests with the same verb and resource that the declared rules do not explain.
struct Unexplained {
  int64_t count = 0;
  rbac::Attributes example;  // the first request
  std::string when;
  std::string audit_id;
  bool declared = false;  // for denied requests: a declared rule allows the example
  // For allowed requests: the first few namespaces; "" is cluster scope and all namespaces.
  std::set<std::string> namespaces;
  AllowedBy by;  // for allowed requests
};

struct IdentityLedger {
  IdentityLedger(std::vector<RuleAtom> declared_atoms, std::vector<RuleAtom> granted_atoms)
      : declared(std::move(declared_atoms)), granted(std::move(granted_atoms)) {}

  RuleUse declared;
  RuleUse granted;
  int64_t requests = 0;
  std::map<std::string, Unexplained> denied;  // the key is verb and resource
  // Denied as well, and only rules with granted=external allow them; the same key.
  std::map<std::string, Unexplained> not_granted;
  std::map<std::string, Unexplained>
      refused;  // authorized, but answered with 403 later; the same key
  std::map<std::string, Unexplained> undeclared;  // the key is verb, resource and binding
  bool left_out = false;  // some requests were omitted, because there were too many
};

// Not thread-safe.
class Ledger {
 public:
  explicit Ledger(size_t max_unexplained = 200) : max_unexplained_(max_unexplained) {}

  // Sets the rules of an identity; must be called before its first request.
  void Declare(const std::string& component, std::vector<RuleAtom> declared,
               std::vector<RuleAtom> granted);
  // Records a request; `bearer` is the component whose token it carried.
  void Note(const AuditEvent& event, const std::string& component, const std::string& bearer);

  const std::map<std::string, IdentityLedger>& identities() const { return identities_; }

 private:
  void NoteUse(const AuditEvent& event, const rbac::Attributes& request, IdentityLedger* ledger);
  void NoteDenied(const AuditEvent& event, const rbac::Attributes& request, IdentityLedger* ledger);
  // Records a right that the request used: its own, or another one that the server checked for it.
  void NoteRight(const AuditEvent& event, const rbac::Attributes& request, IdentityLedger* ledger);
  void NoteUndeclared(const AuditEvent& event, const rbac::Attributes& request,
                      IdentityLedger* ledger);
  void NoteImpersonation(const AuditEvent& event, const rbac::Attributes& request,
                         IdentityLedger* bearer);
  Unexplained* Entry(std::map<std::string, Unexplained>* entries, std::string key,
                     const AuditEvent& event, const rbac::Attributes& request,
                     IdentityLedger* ledger);

  const size_t max_unexplained_;
  std::map<std::string, IdentityLedger> identities_;
};

// The operation in words: "delete clusterroles.rbac.authorization.k8s.io", "get /metrics".
std::string OperationWords(const rbac::Attributes& request);

}  // namespace mandate::rbacgen
