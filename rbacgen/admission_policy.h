// ValidatingAdmissionPolicies about the requests of one ServiceAccount, or about its objects.
#ifndef RBACGEN_ADMISSION_POLICY_H_
#define RBACGEN_ADMISSION_POLICY_H_

#include <string>
#include <string_view>
#include <vector>

#include "rbacgen/object_maker.h"

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

// A regular expression, without anchors, of the ServiceAccount's name, also behind a prefix that
// ends in "-".
std::string AccountPattern(std::string_view account);

// Adds the policy and its binding: the API server denies the requests that it matches and does not
// allow, and all of them when it cannot evaluate the policy. The maker's account is known by its
// name, in any namespace and with any prefix that ends in "-", so that what renames objects
// afterwards, such as kustomize's namespace and namePrefix, does not switch the policy off.
void AddAdmissionPolicy(ObjectMaker& maker, AdmissionPolicy policy,
                        const Yaml::Condition& condition);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_ADMISSION_POLICY_H_
