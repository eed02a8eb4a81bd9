#include "webhooks/scope/grants.h"

#include <functional>
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

// The namespaces in which an instance binds, by its spec alone.
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
    if (options_.may_escalate) return absl::OkStatus();
    RETURN_IF_ERROR(Count(role));
    requirements_.push_back(ToWriteRole(role));
    return absl::OkStatus();
  }
  // A role without rules may get any rules later, by a write of a user who does not see this one.
  absl::Status AddBind(const RoleTemplate& role, std::string_view ns) {
    if (options_.may_bind) return absl::OkStatus();
    if (role.rules.empty()) return AddBindAny(ns);
    RETURN_IF_ERROR(Count(role));
    requirements_.push_back(ToBindRole(role, ns));
    return absl::OkStatus();
  }
  absl::Status AddBindAny(std::string_view ns) {
    if (options_.may_bind || !any_.emplace(ns).second) return absl::OkStatus();
    RETURN_IF_ERROR(Count(1));
    requirements_.push_back(ToBindAnyRole(ns));
    return absl::OkStatus();
  }
  std::vector<Requirement> Take() { return std::move(requirements_); }

 private:
  absl::Status Count(const RoleTemplate& role) { return Count(1 + CountRights(role)); }
  // Before they are made: one rule may have millions of rights.
  absl::Status Count(size_t reviews) {
    reviews_ += reviews;
    if (reviews_ <= options_.max_reviews) return absl::OkStatus();
    return absl::ResourceExhaustedError(
        StrCat("checking it needs more than ", options_.max_reviews,
               " access reviews; split the object into smaller ones, or write it as a user that "
               "may bind and escalate every ClusterRole"));
  }

  const GrantOptions& options_;
  size_t reviews_ = 0;
  std::set<std::string, std::less<>> any_;  // the scopes of AddBindAny()
  std::vector<Requirement> requirements_;
};

bool HasNewSubjects(const SubjectList& old, const SubjectList& now) {
  const SubjectSet known(old);
  for (const rbacv1::Subject& subject : now) {
    if (!known.Contains(subject)) return true;
  }
  return false;
}

// HasNewSubjects() of roles, whose lists are compared once if many roles share them.
class SubjectComparison {
 public:
  bool HasNew(const RoleTemplate& old, const RoleTemplate& now) {
    const auto [it, is_new] = known_.try_emplace({old.subjects.get(), now.subjects.get()});
    if (is_new) it->second = HasNewSubjects(*old.subjects, *now.subjects);
    return it->second;
  }

 private:
  std::map<std::pair<const SubjectList*, const SubjectList*>, bool> known_;
};

absl::Status CheckInTime(const GrantOptions& options) {
  if (!options.stop.stop_requested()) return absl::OkStatus();
  return absl::DeadlineExceededError("the deadline passed before the grants were compared");
}

// Whether roles are missing that a later write adds: a template without roles is as one that does
// not exist yet.
bool IsUnfinished(const TemplateRoles& expanded) {
  return expanded.roles.empty() || !expanded.invalid.ok();
}

// Whether `now` has a right that `old` did not have. Too many rights to compare count as new ones.
bool HasNewRights(const RoleTemplate& old, const RoleTemplate& now, size_t max_rights) {
  if (SameRules(old.rules, now.rules)) return false;
  if (CountRights(old) > max_rights || CountRights(now) > max_rights) return true;
  return !rbac::Uncovered(RulesOf(old), RulesOf(now)).empty();
}

}  // namespace

absl::StatusOr<std::vector<Requirement>> GrantsOfTemplate(
    const ScopeTemplate* old, const ScopeTemplate& now, const std::vector<ScopeInstance>& instances,
    const GrantOptions& options) {
  const TemplateRoles before = old == nullptr ? TemplateRoles() : ExpandTemplate(*old);
  std::map<std::string_view, const RoleTemplate*> old_roles;
  for (const RoleTemplate& role : before.roles) old_roles[role.generate_name] = &role;
  std::set<std::string> scopes;
  for (const ScopeInstance& instance : instances) {
    RETURN_IF_ERROR(CheckInTime(options));
    scopes.merge(NewScopes(nullptr, ReachOf(instance)));
  }
  // A user who may bind in the whole cluster may bind in each namespace.
  if (scopes.contains("")) scopes = {""};

  // A new subject of the whole template counts for each role, also for those with subjects of their
  // own: it gets a role when a user removes the last of these.
  const bool all_get_new_subjects =
      HasNewSubjects(old == nullptr ? SubjectList() : old->spec().bindingtemplate().subjects(),
                     now.spec().bindingtemplate().subjects());
  Counted counted(options);
  SubjectComparison subjects;
  const TemplateRoles after = ExpandTemplate(now);
  if (all_get_new_subjects && IsUnfinished(after)) RETURN_IF_ERROR(counted.AddBindAny(""));
  for (const RoleTemplate& role : after.roles) {
    // Comparing the rules of one role takes up to a million steps.
    RETURN_IF_ERROR(CheckInTime(options));
    const auto found = old_roles.find(role.generate_name);
    const RoleTemplate* was = found == old_roles.end() ? nullptr : found->second;
    const bool has_new_subjects =
        was == nullptr || all_get_new_subjects || subjects.HasNew(*was, role);
    if (!options.may_escalate &&
        (has_new_subjects || HasNewRights(*was, role, options.max_reviews))) {
      RETURN_IF_ERROR(counted.AddWrite(role));
    }
    if (!has_new_subjects) continue;
    if (role.rules.empty()) RETURN_IF_ERROR(counted.AddBindAny(""));
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
  const TemplateRoles expanded = ExpandTemplate(*scope_template);
  for (const std::string& ns : scopes) {
    RETURN_IF_ERROR(CheckInTime(options));
    if (IsUnfinished(expanded)) RETURN_IF_ERROR(counted.AddBindAny(ns));
    for (const RoleTemplate& role : expanded.roles) RETURN_IF_ERROR(counted.AddBind(role, ns));
  }
  return counted.Take();
}

}  // namespace mandate::scope
