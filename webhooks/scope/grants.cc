#include "webhooks/scope/grants.h"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "controllers/scope/role_template.h"
#include "controllers/scope/target.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/rbac/covers.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;

// Where an instance binds, by its spec alone.
struct Reach {
  bool cluster = false;  // a ClusterRoleBinding: neither namespaces nor a selector
  std::string selector;  // the raw selector; "" without one
  bool selects = false;  // it has a selector, perhaps an invalid one
  std::set<std::string> namespaces;
};

Reach ReachOf(const ScopeInstance& instance) {
  Reach reach;
  const auto& spec = instance.spec();
  reach.namespaces = {spec.namespaces().begin(), spec.namespaces().end()};
  const auto selector = NamespaceSelector(instance);
  reach.selects = !selector.ok() || selector->has_value();
  if (reach.selects) reach.selector = spec.namespaceselector().raw();
  reach.cluster = reach.namespaces.empty() && !reach.selects;
  return reach;
}

// The scopes in which `now` binds and `old` (null: nothing) did not: namespaces, or "" alone for
// the whole cluster. A selector counts as the whole cluster.
std::set<std::string> NewScopes(const Reach* old, const Reach& now) {
  if (old != nullptr && old->cluster) return {};
  const bool wider =
      now.cluster ||
      (now.selects && (old == nullptr || !old->selects || old->selector != now.selector));
  if (wider) return {""};
  std::set<std::string> scopes;
  for (const std::string& ns : now.namespaces) {
    if (old == nullptr || !old->namespaces.contains(ns)) scopes.insert(ns);
  }
  return scopes;
}

// Counts before the requirements are made: roles times namespaces may be a million.
class Counted {
 public:
  explicit Counted(const GrantOptions& options) : options_(options) {}

  absl::Status AddWrite(const RoleTemplate& role) {
    return options_.may_escalate ? absl::OkStatus() : Add(ToWriteRole(role));
  }
  absl::Status AddBind(const RoleTemplate& role, std::string_view ns) {
    return options_.may_bind ? absl::OkStatus() : Add(ToBindRole(role, ns));
  }
  absl::Status AddBindAny(std::string_view ns) {
    return options_.may_bind ? absl::OkStatus() : Add(ToBindAnyRole(ns));
  }
  std::vector<Requirement> Take() { return std::move(requirements_); }

 private:
  absl::Status Add(Requirement requirement) {
    reviews_ += 1 + requirement.rights.size();
    if (reviews_ > options_.max_reviews) {
      return absl::ResourceExhaustedError(
          StrCat("checking it needs more than ", options_.max_reviews,
                 " access reviews; split the object into smaller ones, or write it as a user that "
                 "may bind and escalate every ClusterRole"));
    }
    requirements_.push_back(std::move(requirement));
    return absl::OkStatus();
  }

  const GrantOptions& options_;
  size_t reviews_ = 0;
  std::vector<Requirement> requirements_;
};

bool HasNewSubjects(const SubjectList& old, const SubjectList& now) {
  const SubjectSet known(old);
  for (const rbacv1::Subject& subject : now) {
    if (!known.Contains(subject)) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<std::vector<Requirement>> GrantsOfTemplate(
    const ScopeTemplate* old, const ScopeTemplate& now, const std::vector<ScopeInstance>& instances,
    const GrantOptions& options) {
  const TemplateRoles before = old == nullptr ? TemplateRoles() : ExpandTemplate(*old);
  std::map<std::string_view, const RoleTemplate*> old_roles;
  for (const RoleTemplate& role : before.roles) old_roles[role.generate_name] = &role;
  std::set<std::string> scopes;
  for (const ScopeInstance& instance : instances)
    scopes.merge(NewScopes(nullptr, ReachOf(instance)));
  // A user who may bind in the whole cluster may bind in each namespace.
  if (scopes.contains("")) scopes = {""};

  Counted counted(options);
  for (const RoleTemplate& role : ExpandTemplate(now).roles) {
    const auto found = old_roles.find(role.generate_name);
    const RoleTemplate* was = found == old_roles.end() ? nullptr : found->second;
    const std::vector<rbac::Rule> held = was == nullptr ? std::vector<rbac::Rule>() : RulesOf(*was);
    const bool has_new_subjects = was == nullptr || HasNewSubjects(*was->subjects, *role.subjects);
    if (has_new_subjects || !rbac::Uncovered(held, RulesOf(role)).empty()) {
      RETURN_IF_ERROR(counted.AddWrite(role));
    }
    if (!has_new_subjects) continue;
    for (const std::string& ns : scopes) RETURN_IF_ERROR(counted.AddBind(role, ns));
  }
  return counted.Take();
}

absl::StatusOr<std::vector<Requirement>> GrantsOfInstance(
    const ScopeInstance* old, const ScopeInstance& now,
    const std::optional<ScopeTemplate>& scope_template, const GrantOptions& options) {
  const bool same_template =
      old != nullptr && old->spec().scopetemplatename() == now.spec().scopetemplatename();
  const Reach before = same_template ? ReachOf(*old) : Reach();
  const std::set<std::string> scopes = NewScopes(same_template ? &before : nullptr, ReachOf(now));
  Counted counted(options);
  if (!scope_template.has_value()) {
    for (const std::string& ns : scopes) RETURN_IF_ERROR(counted.AddBindAny(ns));
    return counted.Take();
  }
  for (const RoleTemplate& role : ExpandTemplate(*scope_template).roles) {
    for (const std::string& ns : scopes) RETURN_IF_ERROR(counted.AddBind(role, ns));
  }
  return counted.Take();
}

}  // namespace mandate::scope
