#include "manager/rbac/authorizer.h"

#include <algorithm>

#include "absl/strings/str_join.h"
#include "manager/core/strings.h"
#include "manager/rbac/policy_index.h"
#include "manager/rbac/quote.h"

namespace mandate::rbac {
namespace {

bool Contains(const std::vector<std::string>& list, std::string_view wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

absl::Status NotFound(std::string_view resource, std::string_view name) {
  return absl::NotFoundError(StrCat(resource, ".", kRbacGroup, " ", Quote(name), " not found"));
}

}  // namespace

bool SubjectMatches(const Subject& subject, const UserInfo& user, std::string_view binding_ns) {
  if (subject.kind == "User") return subject.name == user.name;
  if (subject.kind == "Group") return Contains(user.groups, subject.name);
  if (subject.kind != "ServiceAccount") return false;
  const std::string_view ns = subject.ns.empty() ? binding_ns : subject.ns;
  return !ns.empty() && IsServiceAccountUser(user.name, ns, subject.name);
}

std::string Grant::Describe() const {
  const std::string where = ns.empty() ? StrCat("ClusterRoleBinding ", Quote(binding))
                                       : StrCat("RoleBinding ", Quote(StrCat(binding, "/", ns)));
  std::string who = subject.name;
  if (subject.kind == "ServiceAccount") {
    StrAppend(&who, "/", subject.ns.empty() ? ns : subject.ns);
  }
  return StrCat(where, " of ", role_ref.kind, " ", Quote(role_ref.name), " to ", subject.kind, " ",
                Quote(who));
}

Authorizer::Authorizer(Policy policy) : policy_(std::make_unique<PolicyIndex>(std::move(policy))) {}

absl::StatusOr<std::span<const Rule>> Authorizer::Resolve(const RoleRef& ref,
                                                          std::string_view ns) const {
  if (ref.kind == "Role") {
    // A ClusterRoleBinding has no namespace to find a Role in.
    if (ns.empty()) return NotFound("role", ref.name);
    const std::vector<Rule>* rules = policy_->RulesOfRole(ns, ref.name);
    if (rules == nullptr) return NotFound("role", ref.name);
    return *rules;
  }
  if (ref.kind == "ClusterRole") {
    const std::vector<Rule>* rules = policy_->RulesOfClusterRole(ref.name);
    if (rules == nullptr) return NotFound("clusterrole", ref.name);
    return *rules;
  }
  return absl::NotFoundError(StrCat("unsupported role reference kind: ", Quote(ref.kind)));
}

bool Authorizer::VisitBinding(const UserInfo& user, const Binding& binding,
                              absl::FunctionRef<bool(const Grant&)> visit,
                              std::vector<std::string>& errors) const {
  const auto subject =
      std::find_if(binding.subjects.begin(), binding.subjects.end(),
                   [&](const Subject& s) { return SubjectMatches(s, user, binding.ns); });
  if (subject == binding.subjects.end()) return true;

  const auto rules = Resolve(binding.role_ref, binding.ns);
  if (!rules.ok()) {
    const std::string_view error = AsStd(rules.status().message());
    if (!Contains(errors, error)) errors.emplace_back(error);
    return true;
  }
  for (const Rule& rule : *rules) {
    if (!visit({.rule = rule,
                .role_ref = binding.role_ref,
                .subject = *subject,
                .binding = binding.name,
                .ns = binding.ns})) {
      return false;
    }
  }
  return true;
}

std::vector<std::string> Authorizer::VisitRules(const UserInfo& user, std::string_view ns,
                                                absl::FunctionRef<bool(const Grant&)> visit) const {
  std::vector<std::string> errors;
  bool more = true;
  policy_->VisitClusterRoleBindings([&](const ClusterRoleBinding& b) {
    const Binding binding{.role_ref = b.role_ref, .subjects = b.subjects, .name = b.name, .ns = ""};
    return more = VisitBinding(user, binding, visit, errors);
  });
  if (!more || ns.empty()) return errors;
  policy_->VisitRoleBindings(ns, [&](const RoleBinding& b) {
    const Binding binding{
        .role_ref = b.role_ref, .subjects = b.subjects, .name = b.name, .ns = b.ns};
    return VisitBinding(user, binding, visit, errors);
  });
  return errors;
}

Decision Authorizer::Authorize(const UserInfo& user, const Attributes& request) const {
  if (Contains(user.groups, kMastersGroup)) return {.allowed = true, .reason = ""};
  Decision decision;
  const std::vector<std::string> errors = VisitRules(user, request.ns, [&](const Grant& grant) {
    if (!RuleAllows(grant.rule, request)) return true;
    decision = {.allowed = true, .reason = StrCat("RBAC: allowed by ", grant.Describe())};
    return false;
  });
  if (decision.allowed || errors.empty()) return decision;
  decision.reason = errors.size() == 1 ? StrCat("RBAC: ", errors.front())
                                       : StrCat("RBAC: [", absl::StrJoin(errors, ", "), "]");
  return decision;
}

ApplicableRules Authorizer::RulesFor(const UserInfo& user, std::string_view ns) const {
  ApplicableRules result;
  result.errors = VisitRules(user, ns, [&](const Grant& grant) {
    result.rules.push_back(grant.rule);
    return true;
  });
  return result;
}

}  // namespace mandate::rbac
