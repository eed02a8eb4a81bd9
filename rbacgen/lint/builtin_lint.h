// Finds rules about Kubernetes' own resources that grant nothing: the resource is not served, is
// not namespaced, or does not support the verb.
#pragma once

#include <string>
#include <vector>

#include "rbacgen/markers/declarations.h"

namespace mandate::rbacgen {

// Appends the mistakes that are certain.
void LintBuiltins(const Declaration& declaration, std::vector<std::string>* found);

// Appends the resources and verbs that the table of Kubernetes' own resources does not have.
std::vector<std::string> DoubtfulBuiltins(const Declaration& declaration);

}  // namespace mandate::rbacgen
