// ValidatingAdmissionPolicies for the requests of one ServiceAccount, or for its objects.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rbacgen/emit/chart/object_maker.h"

namespace mandate::rbacgen {

struct AdmissionPolicy {
  std::string id;       // the policy's name is the account's name, "-" and this id
  std::string matches;  // the name of its match condition: "is-the-component"
  // A CEL expression. If empty: the request is from the maker's account.
  std::string condition;
  std::vector<std::string> groups;
  std::vector<std::string> operations;  // "CREATE"
  std::vector<std::string> resources;
  Yaml::List variables;
  Yaml::List validations;
};

// An entry of `validations`: a CEL expression, and the API server's message if it is false.
Yaml::Map Validation(Yaml expression, const std::string& message);

// A regular expression, without anchors, for the names of the ServiceAccounts. A name may have a
// prefix that ends in "-" and a suffix that begins with "-".
std::string AccountPattern(const std::vector<std::string>& accounts);

// A CEL expression: whether the requester's name matches the pattern of `account`, but not that of
// a longer one of `accounts`. For example, mm-a is another account, not mm with a suffix.
std::string IsAccountCel(const std::string& account, const std::vector<std::string>& accounts);

// Adds the policy and its binding: the API server denies requests that match the policy and violate
// it, and all matching requests if it cannot evaluate the policy. The policy finds the maker's
// account by its name, in any namespace, with any prefix that ends in "-" and any suffix that
// begins with "-". So tools that rename objects afterwards, such as kustomize with namespace,
// namePrefix and nameSuffix, do not disable the policy.
void AddAdmissionPolicy(ObjectMaker& maker, AdmissionPolicy policy,
                        const Yaml::Condition& condition);

}  // namespace mandate::rbacgen
