// Rules about Kubernetes' own resources that mean nothing: what is not served, not in a namespace,
// or not to be had by that verb.
#ifndef RBACGEN_LINT_BUILTIN_LINT_H_
#define RBACGEN_LINT_BUILTIN_LINT_H_

#include <string>
#include <vector>

#include "rbacgen/markers/declarations.h"

namespace mandate::rbacgen {

// What is wrong for certain, appended.
void LintBuiltins(const Declaration& declaration, std::vector<std::string>* found);

// Resources and verbs that Kubernetes does not know, as far as this knows Kubernetes.
std::vector<std::string> DoubtfulBuiltins(const Declaration& declaration);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_LINT_BUILTIN_LINT_H_
