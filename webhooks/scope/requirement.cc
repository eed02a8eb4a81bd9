#include "webhooks/scope/requirement.h"

#include <algorithm>
#include <set>
#include <utility>

#include "manager/core/strings.h"
#include "manager/rbac/covers.h"
#include "manager/rbac/policy_proto.h"

namespace mandate::scope {
namespace {

// More than any bound; the sum over all rules of an object does not overflow.
constexpr size_t kManyRights = size_t{1} << 40;
constexpr std::string_view kRbacGroup = "rbac.authorization.k8s.io";

rbac::Rule OnClusterRoles(std::string_view verb, std::string_view name) {
  rbac::Rule rule{.verbs = {std::string(verb)},
                  .api_groups = {std::string(kRbacGroup)},
                  .resources = {"clusterroles"}};
  if (!name.empty()) rule.resource_names = {std::string(name)};
  return rule;
}

std::vector<AccessQuestion> Rights(std::string_view ns, const std::vector<rbac::Rule>& rules) {
  std::vector<AccessQuestion> rights;
  std::set<rbac::Rule> known;
  for (const rbac::Rule& rule : rules) {
    for (rbac::Rule& one : rbac::Breakdown(rule)) {
      if (one.non_resource_urls.empty() && one.resource_names.empty()) {
        one.resource_names = {std::string(kEveryName)};
      }
      if (known.insert(one).second) rights.push_back({std::string(ns), std::move(one)});
    }
  }
  return rights;
}

std::string InScope(std::string_view ns) {
  return ns.empty() ? "in the whole cluster" : StrCat("in namespace \"", ns, "\"");
}

}  // namespace

size_t CountRights(const RoleTemplate& role) {
  size_t count = 0;
  for (const rbacv1::PolicyRule& rule : role.rules) {
    const auto at_least_one = [](int size) { return static_cast<size_t>(std::max(size, 1)); };
    const size_t verbs = at_least_one(rule.verbs_size());
    // No factor is above 2^23, the bytes of a review, so the product of the four may overflow.
    const double product = static_cast<double>(verbs) * at_least_one(rule.apigroups_size()) *
                           at_least_one(rule.resources_size()) *
                           at_least_one(rule.resourcenames_size());
    count += product > kManyRights ? kManyRights : static_cast<size_t>(product);
    count += verbs * static_cast<size_t>(rule.nonresourceurls_size());
  }
  return count;
}

std::vector<rbac::Rule> RulesOf(const RoleTemplate& role) {
  std::vector<rbac::Rule> rules;
  for (const rbacv1::PolicyRule& rule : role.rules) rules.push_back(rbac::FromProto(rule));
  return rules;
}

AccessQuestion EscalateAll() { return {"", OnClusterRoles("escalate", "")}; }

AccessQuestion BindAll() { return {"", OnClusterRoles("bind", kEveryName)}; }

Requirement ToWriteRole(const RoleTemplate& role) {
  return {.what = StrCat("to write the rules of role \"", role.generate_name, "\""),
          .shortcut = EscalateAll(),
          .rights = Rights("", RulesOf(role))};
}

Requirement ToBindRole(const RoleTemplate& role, std::string_view ns) {
  return {.what = StrCat("to bind role \"", role.generate_name, "\" ", InScope(ns)),
          .shortcut = {std::string(ns), OnClusterRoles("bind", role.name)},
          .rights = Rights(ns, RulesOf(role))};
}

Requirement ToBindAnyRole(std::string_view ns) {
  return {.what = StrCat("to bind roles whose rules do not exist yet ", InScope(ns)),
          .shortcut = {std::string(ns), OnClusterRoles("bind", kEveryName)},
          .only_shortcut = true};
}

}  // namespace mandate::scope
