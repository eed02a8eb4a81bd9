// What the API server would refuse, or RBAC would silently ignore, in a declared rule; and what is
// too strong to be granted without a reason. (Kubernetes' pkg/apis/rbac/validation and the
// authorizer's request attributes.)
#ifndef RBACGEN_LINT_H_
#define RBACGEN_LINT_H_

#include <optional>
#include <string>
#include <vector>

#include "rbacgen/declarations.h"
#include "rbacgen/diagnostics.h"

namespace mandate::rbacgen {

// What is wrong with the rule; empty if nothing.
std::vector<std::string> Lint(const Declaration& declaration);

// What makes the rule risky: escalate, bind, impersonate, any "*", minting tokens, reading Secrets.
std::optional<std::string> Risk(const Declaration& declaration);

// Reports, for each declaration, its lint with the given severity.
void LintAll(const Sources& sources, Severity severity, Diagnostics* diagnostics);

// What `header` and `chart` ask on top: every rule belongs to a component, and risky ones say why.
void CheckMandates(const Sources& sources, Diagnostics* diagnostics);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_LINT_H_
