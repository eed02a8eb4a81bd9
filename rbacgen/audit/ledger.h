// A record of the rights that each identity used, compared with its declared and granted rights.
// Memory does not grow with the log.
#ifndef RBACGEN_AUDIT_LEDGER_H_
#define RBACGEN_AUDIT_LEDGER_H_

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

// The attributes of a request, as the API server's authorizer saw them: from its verb and URI, or
// from its objectRef if the two differ.
rbac::Attributes AttributesOfEvent(const AuditEvent& event);

// The server's reason: 'RBAC: allowed by ClusterRoleBinding "b" of ClusterRole "r" to Group "g"'.
struct AllowedBy {
  std::string binding;  // 'ClusterRoleBinding "b"'
  std::string role;     // "r"
  std::string subject;  // 'Group "g"'
};
std::optional<AllowedBy> ParseReason(std::string_view reason);
// Whether Kubernetes' own policy allows all users the request by this role: discovery, reviews
// of a user's own rights. A cluster's role with this name may allow more.
bool IsEverybodys(const AllowedBy& allowed, const rbac::Attributes& request);

// Requests of one verb and resource that the declared rules do not explain.
struct Unexplained {
  int64_t count = 0;
  rbac::Attributes example;  // the first
  std::string when;
  std::string audit_id;
  bool declared = false;  // of denied ones: a declared rule allows it
  // Of allowed ones: where, "" being cluster scope and all namespaces; the first few.
  std::set<std::string> namespaces;
  AllowedBy by;  // of allowed ones
};

struct IdentityLedger {
  IdentityLedger(std::vector<RuleAtom> declared_atoms, std::vector<RuleAtom> granted_atoms)
      : declared(std::move(declared_atoms)), granted(std::move(granted_atoms)) {}

  RuleUse declared;
  RuleUse granted;
  int64_t requests = 0;
  std::map<std::string, Unexplained> denied;      // by verb and resource
  std::map<std::string, Unexplained> refused;     // authorized, and refused later; by the same
  std::map<std::string, Unexplained> undeclared;  // by verb, resource and binding
  bool left_out = false;                          // of these, as there were too many
};

// Not thread-safe.
class Ledger {
 public:
  explicit Ledger(size_t max_unexplained = 200) : max_unexplained_(max_unexplained) {}

  // Rules of an identity, before its first request.
  void Declare(const std::string& component, std::vector<RuleAtom> declared,
               std::vector<RuleAtom> granted);
  // One request; `bearer` is the component whose token it carried.
  void Note(const AuditEvent& event, const std::string& component, const std::string& bearer);

  const std::map<std::string, IdentityLedger>& identities() const { return identities_; }

 private:
  void NoteUse(const AuditEvent& event, const rbac::Attributes& request, IdentityLedger* ledger);
  // A right that the request has used: its own, or another that the server checked for it.
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

// "delete clusterroles.rbac.authorization.k8s.io", "get /metrics".
std::string OperationWords(const rbac::Attributes& request);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_AUDIT_LEDGER_H_
