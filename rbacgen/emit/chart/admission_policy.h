// ValidatingAdmissionPolicies about the requests of one ServiceAccount, or about its objects.
#ifndef RBACGEN_EMIT_CHART_ADMISSION_POLICY_H_
#define RBACGEN_EMIT_CHART_ADMISSION_POLICY_H_

#include <string>
#include <string_view>
#include <vector>

#include "rbacgen/emit/chart/object_maker.h"

namespace mandate::rbacgen {

struct AdmissionPolicy {
  std::string id;       // the policy's name is the account's, "-" and this
  std::string matches;  // the name of its match condition: "is-the-component"
  // In CEL. Empty: that the request is the maker's account's.
  std::string condition;
  std::vector<std::string> groups;
  std::vector<std::string> operations;  // "CREATE"
  std::vector<std::string> resources;
  Yaml::List variables;
  Yaml::List validations;
};

// An entry of `validations`: a CEL expression, and the API server's words when it is false.
Yaml::Map Validation(Yaml expression, const std::string& message);

// A regular expression, without anchors, of the names of ServiceAccounts, also behind a prefix that
// ends in "-" and before a suffix that begins with "-".
std::string AccountPattern(const std::vector<std::string>& accounts);

// A CEL expression: whether the requester has a name of the pattern of `account`, and not of a
// longer one of `accounts`: mm-a is not mm with a suffix.
std::string IsAccountCel(const std::string& account, const std::vector<std::string>& accounts);

// Adds the policy and its binding: the API server denies the requests that it matches and does not
// allow, and all of them when it cannot evaluate the policy. The maker's account is known by its
// name, in any namespace, with any prefix that ends in "-" and any suffix that begins with "-", so
// that what renames objects afterwards, such as kustomize's namespace, namePrefix and nameSuffix,
// does not switch the policy off.
void AddAdmissionPolicy(ObjectMaker& maker, AdmissionPolicy policy,
                        const Yaml::Condition& condition);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CHART_ADMISSION_POLICY_H_
