// An audit policy (audit.k8s.io/v1 Policy), read to find the requests that it omits from the log.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/rbac/rule.h"
#include "manager/rbac/user.h"

namespace mandate::rbacgen {

// Immutable.
class AuditPolicyFile {
 public:
  // InvalidArgument, with the line, if the text is not a valid policy.
  static absl::StatusOr<AuditPolicyFile> Parse(std::string_view yaml);

  // Whether the log has an event for the end of the request (for a watch: its start). The first
  // rule that matches decides, as in k8s.io/apiserver pkg/audit/policy; if no rule matches, the log
  // has no event.
  bool Logs(const rbac::UserInfo& user, const rbac::Attributes& request) const;

 private:
  struct Resources {
    std::string group;
    std::vector<std::string> resources, names;
  };
  struct Rule {
    std::string level;
    std::vector<std::string> users, groups, verbs, namespaces, urls, omit_stages;
    std::vector<Resources> resources;
  };

  static bool Matches(const Rule& rule, const rbac::UserInfo& user,
                      const rbac::Attributes& request);
  static bool MatchesResource(const Rule& rule, const rbac::Attributes& request);

  std::vector<Rule> rules_;
  std::vector<std::string> omit_stages_;
};

}  // namespace mandate::rbacgen
