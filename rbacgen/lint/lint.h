// What the API server would refuse, or RBAC would silently ignore, in a declared rule. (Kubernetes'
// pkg/apis/rbac/validation and the authorizer's request attributes.)
#ifndef RBACGEN_LINT_LINT_H_
#define RBACGEN_LINT_LINT_H_

#include <string>
#include <vector>

#include "rbacgen/markers/declarations.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// What is wrong with the rule; empty if nothing.
std::vector<std::string> Lint(const Declaration& declaration);

// What may be right and is probably wrong: reported as a warning, always.
std::vector<std::string> Doubts(const Declaration& declaration);

// Reports, for each declaration, its lint with the given severity.
void LintAll(const Sources& sources, Severity severity, Diagnostics* diagnostics);

// What `header` and `chart` ask on top: every rule and fence belongs to a component, risky rules
// say why (`unjustified`: how severe it is if they do not), and a fence is around something that
// the component may write.
void CheckMandates(const Sources& sources, Severity unjustified, Diagnostics* diagnostics);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_LINT_LINT_H_
