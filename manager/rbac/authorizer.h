// The API server's authorization of a request: system:masters, then RBAC.
//
// RBAC rules only allow: no rule denies, and their order does not matter. The upstream code is in
// k8s.io/kubernetes plugin/pkg/auth/authorizer/rbac and pkg/registry/rbac/validation. Node, ABAC
// and webhook authorizers are not part of this.
//
//   Authorizer authorizer(std::move(policy));
//   Decision d = authorizer.Authorize(ServiceAccountInfo("ops", "builder"), request);
//   if (!d.allowed) return absl::PermissionDeniedError(d.reason);
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "manager/rbac/policy.h"
#include "manager/rbac/policy_reader.h"
#include "manager/rbac/rule.h"
#include "manager/rbac/user.h"

namespace mandate::rbac {

struct Decision {
  bool allowed = false;
  // In the server's words. If allowed: the binding, its role and the subject that matched; empty
  // for system:masters. If denied: the role references that could not be resolved; usually empty.
  std::string reason;
};

// One rule that applies to a user, and why. Borrows from the authorizer's policy.
struct Grant {
  const Rule& rule;
  const RoleRef& role_ref;
  const Subject& subject;  // the first of the binding that is this user
  std::string_view binding;
  std::string_view ns;  // of a RoleBinding; empty for a ClusterRoleBinding

  // 'ClusterRoleBinding "b" of ClusterRole "r" to ServiceAccount "name/namespace"'. The order
  // inside the last quotes, and in 'RoleBinding "name/namespace"', is the server's.
  std::string Describe() const;
};

struct ApplicableRules {
  std::vector<Rule> rules;
  // Role references that did not resolve: the rules may be incomplete.
  std::vector<std::string> errors;
};

// The authorizer has no state, so it is as thread-safe as its PolicyReader.
class Authorizer {
 public:
  // For a policy that may change. Each question reads the current policy.
  explicit Authorizer(std::unique_ptr<const PolicyReader> policy) : policy_(std::move(policy)) {}
  // For a constant policy. If two roles have the same name, the first counts.
  explicit Authorizer(Policy policy);
  Authorizer(const Authorizer&) = delete;
  Authorizer& operator=(const Authorizer&) = delete;

  Decision Authorize(const UserInfo& user, const Attributes& request) const;

  // The rules that apply to the user in `ns`. If `ns` is empty, only those of cluster scope.
  ApplicableRules RulesFor(const UserInfo& user, std::string_view ns) const;

  // Calls `visit` with each rule of RulesFor() until it returns false. Returns the errors met so
  // far, without repetitions.
  std::vector<std::string> VisitRules(const UserInfo& user, std::string_view ns,
                                      absl::FunctionRef<bool(const Grant&)> visit) const;

  // The rules of the role that a binding in `ns` refers to; an empty `ns` means a
  // ClusterRoleBinding. Borrows from this. NotFound, with the server's message, if the role does
  // not exist.
  absl::StatusOr<std::span<const Rule>> Resolve(const RoleRef& ref, std::string_view ns) const;

  const PolicyReader& policy() const { return *policy_; }

 private:
  struct Binding {
    const RoleRef& role_ref;
    const std::vector<Subject>& subjects;
    std::string_view name;
    std::string_view ns;
  };
  // False if `visit` returned false.
  bool VisitBinding(const UserInfo& user, const Binding& binding,
                    absl::FunctionRef<bool(const Grant&)> visit,
                    std::vector<std::string>& errors) const;

  const std::unique_ptr<const PolicyReader> policy_;
};

// Whether a binding's subject is this user. `binding_ns` is empty for a ClusterRoleBinding, where a
// ServiceAccount without a namespace matches no user.
bool SubjectMatches(const Subject& subject, const UserInfo& user, std::string_view binding_ns);

}  // namespace mandate::rbac
