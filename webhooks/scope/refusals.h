// Refusals of ScopeTemplates and ScopeInstances that do not depend on the author: errors that the
// CRD's schema cannot express, and grants that no template may make.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "controllers/scope/kinds.h"

namespace mandate::scope {

// `ns` is the manager's namespace. `old` is null for a new template. Each error that `old` has,
// too, is accepted, so that a mistake can be corrected step by step. A subject that must not get
// roles is one error, with the first of its roles and the number of the others. Time and memory do
// not depend on roles times subjects, for the subjects that roles share.
absl::Status RefuseTemplate(const operatorsv1alpha1::ScopeTemplate* old,
                            const operatorsv1alpha1::ScopeTemplate& now, std::string_view ns);

absl::Status RefuseInstance(const operatorsv1alpha1::ScopeInstance* old,
                            const operatorsv1alpha1::ScopeInstance& now, std::string_view ns);

}  // namespace mandate::scope
