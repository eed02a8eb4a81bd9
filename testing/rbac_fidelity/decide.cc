#include "testing/rbac_fidelity/decide.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "manager/core/strings.h"
#include "manager/rbac/escalation.h"

namespace mandate::fidelity {
namespace {

using rbac::Attributes;
using rbac::Authorizer;
using rbac::Grant;
using rbac::Rule;

bool IsMaster(const Question& q) {
  return std::find(q.user.groups.begin(), q.user.groups.end(), rbac::kMastersGroup) !=
         q.user.groups.end();
}

// An authorizer that uses `matches` to compare rules with a request.
template <class Matches>
Decision WithMatcher(Matches matches) {
  return [matches](const Authorizer& authorizer, const Question& q) {
    bool allowed = IsMaster(q);
    authorizer.VisitRules(q.user, q.request.ns, [&](const Grant& grant) {
      allowed = allowed || matches(grant.rule, q.request);
      return !allowed;
    });
    return allowed;
  };
}

bool StarSkipsSubresources(const Rule& rule, const Attributes& request) {
  Rule wrong = rule;
  if (!request.subresource.empty()) std::erase(wrong.resources, "*");
  return rbac::RuleAllows(wrong, request);
}

bool NamesMatchEmpty(const Rule& rule, const Attributes& request) {
  Rule wrong = rule;
  if (request.name.empty()) wrong.resource_names.clear();
  return rbac::RuleAllows(wrong, request);
}

bool ResourceHoldsSubresources(const Rule& rule, const Attributes& request) {
  Attributes wrong = request;
  wrong.subresource.clear();
  return rbac::RuleAllows(rule, request) || rbac::RuleAllows(rule, wrong);
}

bool PathsArePrefixes(const Rule& rule, const Attributes& request) {
  Rule wrong = rule;
  for (const std::string& url : rule.non_resource_urls)
    wrong.non_resource_urls.push_back(url + "*");
  return rbac::RuleAllows(wrong, request);
}

bool StarNeedsAName(const Rule& rule, const Attributes& request) {
  Rule wrong = rule;
  if (request.api_group.empty()) std::erase(wrong.api_groups, "*");
  return rbac::RuleAllows(wrong, request);
}

bool AnyResourcesSubresourceIsLiteral(const Rule& rule, const Attributes& request) {
  Rule wrong = rule;
  std::erase_if(wrong.resources, [](const std::string& r) { return r.starts_with("*/"); });
  return rbac::RuleAllows(wrong, request);
}

bool NamesReachCollections(const Rule& rule, const Attributes& request) {
  Rule wrong = rule;
  if (request.verb == "create" || request.verb == "deletecollection") wrong.resource_names.clear();
  return rbac::RuleAllows(wrong, request);
}

bool RoleBindingLeaksToCluster(const Authorizer& authorizer, const Question& q) {
  if (Allowed(authorizer, q)) return true;
  if (!q.request.ns.empty()) return false;
  return std::ranges::any_of(authorizer.policy().BindingNamespaces(), [&](const std::string& ns) {
    Question wrong = q;
    wrong.request.ns = ns;
    return Allowed(authorizer, wrong);
  });
}

bool DanglingDenies(const Authorizer& authorizer, const Question& q) {
  return Allowed(authorizer, q) &&
         (IsMaster(q) || authorizer.RulesFor(q.user, q.request.ns).errors.empty());
}

}  // namespace

bool Allowed(const Authorizer& authorizer, const Question& q) {
  return authorizer.Authorize(q.user, q.request).allowed;
}

const std::map<std::string, Decision>& SeededBugs() {
  static const auto& bugs = *new std::map<std::string, Decision>{
      {"star-skips-subresources", WithMatcher(StarSkipsSubresources)},
      {"names-match-empty", WithMatcher(NamesMatchEmpty)},
      {"resource-holds-subresources", WithMatcher(ResourceHoldsSubresources)},
      {"paths-are-prefixes", WithMatcher(PathsArePrefixes)},
      {"star-group-is-not-core", WithMatcher(StarNeedsAName)},
      {"star-subresource-is-literal", WithMatcher(AnyResourcesSubresourceIsLiteral)},
      {"names-hold-for-create", WithMatcher(NamesReachCollections)},
      {"rolebinding-leaks-to-cluster", RoleBindingLeaksToCluster},
      {"dangling-denies", DanglingDenies},
  };
  return bugs;
}

absl::Status CheckReason(const Authorizer& authorizer, const Question& q, bool allowed,
                         const std::string& reason) {
  std::set<std::string> possible;
  if (IsMaster(q)) {
    possible = {""};
  } else {
    const auto errors = authorizer.VisitRules(q.user, q.request.ns, [&](const Grant& grant) {
      if (rbac::RuleAllows(grant.rule, q.request)) {
        possible.insert(StrCat("RBAC: allowed by ", grant.Describe()));
      }
      return true;
    });
    if (!allowed && errors.empty()) possible = {""};
    if (!allowed && errors.size() == 1) possible = {StrCat("RBAC: ", errors.front())};
    if (!allowed && errors.size() > 1) {
      // The order of errors is undefined, so they are compared as sets.
      std::string_view list = reason;
      if (!list.starts_with("RBAC: [") || !list.ends_with("]")) {
        return absl::InternalError(StrCat("unexpected reason: ", reason));
      }
      list = list.substr(7, list.size() - 8);
      const std::set<std::string> got = absl::StrSplit(AsAbsl(list), ", ");
      if (got == std::set<std::string>(errors.begin(), errors.end())) return absl::OkStatus();
      possible = {absl::StrJoin(errors, ", ")};
    }
  }
  if (possible.contains(reason)) return absl::OkStatus();
  return absl::InternalError(StrCat("the server's reason is\n    ", reason,
                                    "\n  and ours can be\n    ",
                                    absl::StrJoin(possible, "\n    ")));
}

int ExpectedStatus(const Authorizer& authorizer, const GrantAttempt& a) {
  if (!a.is_binding()) {
    const std::vector<Rule> missing =
        rbac::MissingToWriteRole(authorizer, a.user, {.ns = a.ns, .name = "", .rules = a.rules});
    return missing.empty() ? 201 : 403;
  }
  const auto missing = rbac::MissingToBind(authorizer, a.user, a.ns, a.role_ref);
  if (!missing.ok()) return 404;
  return missing->empty() ? 201 : 403;
}

}  // namespace mandate::fidelity
