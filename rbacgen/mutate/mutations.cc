#include "rbacgen/mutate/mutations.h"

#include <algorithm>
#include <string_view>

#include "manager/core/status_macros.h"
#include "manager/rbac/events_rule.h"

namespace mandate::rbacgen {

namespace {

// Whether the permission is part of the events rule, which no marker asks for.
bool IsEverybodys(std::string_view verb, std::string_view group, std::string_view resource) {
  return rbac::VerbMatches(rbac::kEventsRule, verb) &&
         rbac::GroupMatches(rbac::kEventsRule, group) &&
         rbac::ResourceMatches(rbac::kEventsRule, resource, "");
}

}  // namespace

bool IsWrite(const rbac::Permission& permission) {
  return permission.verb != "get" && permission.verb != "list" && permission.verb != "watch";
}

std::vector<rbac::Permission> OwnPermissions(const std::vector<ComponentMandate>& mandates) {
  std::vector<rbac::Permission> own;
  const auto add = [&](const std::string& component, const std::string& verb,
                       const std::string& group, const std::string& resource) {
    if (!IsEverybodys(verb, group, resource)) own.push_back({component, verb, group, resource});
  };
  for (const ComponentMandate& mandate : mandates) {
    for (const Grant& grant : mandate.grants) {
      if (grant.external) continue;
      for (const rbac::Rule& rule : grant.rules) {
        for (const std::string& verb : rule.verbs) {
          for (const std::string& group : rule.api_groups) {
            for (const std::string& r : rule.resources) add(mandate.name, verb, group, r);
          }
          for (const std::string& url : rule.non_resource_urls) add(mandate.name, verb, "", url);
        }
      }
    }
  }
  std::sort(own.begin(), own.end());
  own.erase(std::unique(own.begin(), own.end()), own.end());
  return own;
}

absl::StatusOr<std::vector<Mutation>> Mutate(const std::vector<rbac::Permission>& permissions,
                                             const RunTests& run) {
  ASSIGN_OR_RETURN(const bool sound, run(""));
  if (!sound) {
    return absl::FailedPreconditionError(
        "the tests fail although no permission was removed; fix the tests first");
  }
  std::vector<Mutation> mutations;
  for (const rbac::Permission& permission : permissions) {
    ASSIGN_OR_RETURN(const bool passes, run(permission.ToString()));
    mutations.push_back({permission, !passes});
  }
  return mutations;
}

}  // namespace mandate::rbacgen
