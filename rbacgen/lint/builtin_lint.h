// Rules about Kubernetes' own resources that mean nothing: what is not served, not in a namespace,
// or not to be had by that verb.
#ifndef RBACGEN_LINT_BUILTIN_LINT_H_
#define RBACGEN_LINT_BUILTIN_LINT_H_

#include <string>
#include <vector>

#include "rbacgen/markers/declarations.h"

namespace mandate::rbacgen {

// Appends the certain mistakes.
void LintBuiltins(const Declaration& declaration, std::vector<std::string>* found);

// Resources and verbs that are not in the table of Kubernetes' own resources.
std::vector<std::string> DoubtfulBuiltins(const Declaration& declaration);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_LINT_BUILTIN_LINT_H_
