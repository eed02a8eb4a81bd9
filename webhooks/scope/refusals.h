// Refusals of ScopeTemplates and ScopeInstances that do not depend on the author: errors that the
// CRD's schema cannot express, and grants that no template may make.
#pragma once

#include <string_view>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "controllers/scope/kinds.h"

namespace mandate::scope {

// Why no template may have a role of this name, which does not end in '-': "it belongs to …"; ""
// if it may.
using WhyTaken = absl::FunctionRef<std::string(std::string_view cluster_role)>;

// `ns` is the manager's namespace. `old` is null for a new template. Each error that `old` has,
// too, is accepted, so that a mistake can be corrected step by step.
absl::Status RefuseTemplate(const operatorsv1alpha1::ScopeTemplate* old,
                            const operatorsv1alpha1::ScopeTemplate& now, std::string_view ns,
                            WhyTaken why_taken);

absl::Status RefuseInstance(const operatorsv1alpha1::ScopeInstance* old,
                            const operatorsv1alpha1::ScopeInstance& now, std::string_view ns);

}  // namespace mandate::scope
