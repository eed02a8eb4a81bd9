// Checks for rules that the API server would reject or that RBAC would silently ignore. (Sources:
// Kubernetes' pkg/apis/rbac/validation and the authorizer's request attributes.)
#pragma once

#include <string>
#include <vector>

#include "rbacgen/markers/declarations.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

// The mistakes in the rule; empty if it has none.
std::vector<std::string> Lint(const Declaration& declaration);

// Probable mistakes, which are always reported as warnings.
std::vector<std::string> Doubts(const Declaration& declaration);

// Reports the lint of each declaration with the given severity.
void LintAll(const Sources& sources, Severity severity, Diagnostics* diagnostics);

// The additional checks of `header` and `chart`: every rule and fence must belong to a component, a
// risky rule must have a reason (`unjustified` is the severity of a missing one), and a fence must
// cover a resource that the component may write.
void CheckMandates(const Sources& sources, Severity unjustified, Diagnostics* diagnostics);

}  // namespace mandate::rbacgen
