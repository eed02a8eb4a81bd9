// Rules in plain words.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "manager/rbac/rule.h"

namespace mandate::rbacgen {

// The words as a list: "a", "a and b", "a, b and c".
std::string JoinWords(std::span<const std::string> words);

// The resource as kubectl names it: "pods", "deployments.apps/status", "every resource".
std::string ResourceWords(std::string_view group, std::string_view resource);

// The rule in words: "get, list and watch pods named \"a\"", with a namespace "… in kube-system";
// for URLs "get /metrics".
std::string RuleWords(const rbac::Rule& rule, std::string_view ns);

// The consequences that the words of a rule do not show, the most severe first: "runs as any
// ServiceAccount there", …
std::vector<std::string> Consequences(const rbac::Rule& rule);

}  // namespace mandate::rbacgen
