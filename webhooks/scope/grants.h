// Lists the permissions that a write of a ScopeTemplate or of a ScopeInstance grants, as
// requirements of its author.
//
// A write that grants nothing new has no requirements: an edit of metadata or status, and one that
// only removes rules, subjects, roles or namespaces.
#pragma once

#include <cstddef>
#include <optional>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "controllers/scope/kinds.h"
#include "webhooks/scope/requirement.h"

namespace mandate::scope {

struct GrantOptions {
  // The author may escalate every ClusterRole, or bind every one in every namespace: then no
  // requirement of this sort is made.
  bool may_escalate = false;
  bool may_bind = false;
  // A write that needs more reviews than this is denied.
  size_t max_reviews = 1000;
  // Requested when the answer comes too late: the comparison then ends with kDeadlineExceeded.
  std::stop_token stop = {};
};

// For a template: for each role that is new, or has a new rule or a new subject, its author must
// hold all rules of the role cluster-wide, or may escalate, also if no instance uses the template,
// because the admission of an instance cannot see this one. And for each new role, and each role
// with a new subject, its author may bind it where `instances`, those that use the template, bind
// it. A new subject of the whole template is one of each role, also of those that have their own. A
// new subject of a role without rules, or of a template without roles, needs `bind` on every role:
// what it will get is not known. `old` is null for a new template. kResourceExhausted: more than
// max_reviews, with the number. kDeadlineExceeded: see GrantOptions::stop.
absl::StatusOr<std::vector<Requirement>> GrantsOfTemplate(
    const operatorsv1alpha1::ScopeTemplate* old, const operatorsv1alpha1::ScopeTemplate& now,
    const std::vector<operatorsv1alpha1::ScopeInstance>& instances, const GrantOptions& options);

// For an instance: its author may bind each role of the template in each new namespace, or in the
// whole cluster if it has a selector or names no namespace, because any namespace may match later.
// If the template does not exist, has no roles, or has a role without rules, what will be bound is
// unknown, and the author must be allowed to bind every role: otherwise the template's author would
// grant, unknowingly, what the instance's author has chosen. `old` is null for a new instance.
absl::StatusOr<std::vector<Requirement>> GrantsOfInstance(
    const operatorsv1alpha1::ScopeInstance* old, const operatorsv1alpha1::ScopeInstance& now,
    const std::optional<operatorsv1alpha1::ScopeTemplate>& scope_template,
    const GrantOptions& options);

}  // namespace mandate::scope
