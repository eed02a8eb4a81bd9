#include "webhooks/scope/refusals.h"

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/scope/role_template.h"
#include "controllers/scope/summary.h"
#include "controllers/scope/target.h"
#include "manager/core/strings.h"
#include "manager/rbac/user.h"

namespace mandate::scope {
namespace {

using operatorsv1alpha1::ScopeInstance;
using operatorsv1alpha1::ScopeTemplate;
using Errors = std::set<std::string>;

constexpr std::string_view kKubeSystem = "kube-system";

// The reason why no user may bind a role to the subject; "" if users may.
std::string WhyNever(const rbacv1::Subject& subject, std::string_view ns) {
  const std::string& name = subject.name();
  if (subject.kind() == "ServiceAccount") {
    return subject.namespace_() == ns ? "it is a ServiceAccount of the manager's namespace" : "";
  }
  if (name == rbac::kAnonymousUser || name == rbac::kUnauthenticatedGroup) {
    return "it stands for requests without a credential";
  }
  if (name == rbac::kAuthenticatedGroup) return "it stands for every user";
  const std::string group = StrCat(rbac::kServiceAccountsGroup, ":", ns);
  if (name == rbac::kServiceAccountsGroup || name == group) {
    return "it contains the manager's ServiceAccounts";
  }
  // As the fence compares it: the name may be one that no ServiceAccount can have.
  if (name.starts_with(StrCat(rbac::kServiceAccountUserPrefix, ns, ":"))) {
    return "it is a ServiceAccount of the manager's namespace";
  }
  return "";
}

using RolesByName = std::map<std::string_view, const RoleTemplate*>;

// Errors of subjects that the same roles of `old` do not have. Each subject is one error, whatever
// the number of its roles: a list that many roles share is read once.
void AddSubjectErrors(const RolesByName& old, const TemplateRoles& now, std::string_view ns,
                      Summary& errors) {
  // Roles with the same list now and in `old`.
  struct Group {
    const SubjectList* was;  // null: new roles
    const SubjectList* is;
    const std::string* first;  // the first role's generateName
    size_t roles = 0;
  };
  std::vector<Group> groups;
  std::map<std::pair<const SubjectList*, const SubjectList*>, size_t> group_of;
  for (const RoleTemplate& role : now.roles) {
    const auto found = old.find(role.generate_name);
    const SubjectList* was = found == old.end() ? nullptr : found->second->subjects.get();
    const SubjectList* is = role.subjects.get();
    const auto [it, is_new] = group_of.emplace(std::pair(was, is), groups.size());
    if (is_new) groups.push_back({was, is, &role.generate_name});
    ++groups[it->second].roles;
  }

  struct Error {
    const rbacv1::Subject* subject;
    std::string why;
    const std::string* first;  // as in Group
    size_t roles = 0;
  };
  std::vector<Error> found;
  std::map<const rbacv1::Subject*, size_t, SubjectLess> error_of;
  std::map<const SubjectList*, SubjectSet> known;
  for (const Group& group : groups) {
    for (const rbacv1::Subject& subject : *group.is) {
      std::string why = WhyNever(subject, ns);
      if (why.empty()) continue;
      if (group.was != nullptr &&
          known.try_emplace(group.was, *group.was).first->second.Contains(subject)) {
        continue;
      }
      const auto [it, is_new] = error_of.emplace(&subject, found.size());
      if (is_new) found.push_back({&subject, std::move(why), group.first});
      found[it->second].roles += group.roles;
    }
  }
  for (const Error& error : found) {
    const size_t others = error.roles - 1;
    errors.Add(StrCat("role \"", *error.first, "\"",
                      others == 0   ? ""
                      : others == 1 ? " and 1 other role"
                                    : StrCat(" and ", others, " other roles"),
                      ": ", error.subject->kind(), " \"", error.subject->name(),
                      "\" cannot be a subject, because ", error.why));
  }
}

absl::Status ToStatus(const Summary& errors) {
  if (errors.size() == 0) return absl::OkStatus();
  return absl::InvalidArgumentError(errors.Text());
}

// At most three: only two namespaces cannot be targets.
Errors ErrorsOf(const ScopeInstance& instance, std::string_view ns) {
  Errors errors;
  const absl::Status selector = NamespaceSelector(instance).status();
  if (!selector.ok()) errors.emplace(selector.message());
  for (const std::string& name : instance.spec().namespaces()) {
    if (name != ns && name != kKubeSystem) continue;
    errors.insert(StrCat("spec.namespaces: \"", name, "\" cannot be a target, because ",
                         name == ns ? "it is the manager's namespace"
                                    : "the control plane's ServiceAccounts are there"));
  }
  return errors;
}

}  // namespace

absl::Status RefuseTemplate(const ScopeTemplate* old, const ScopeTemplate& now,
                            std::string_view ns) {
  const TemplateRoles before = old == nullptr ? TemplateRoles() : ExpandTemplate(*old);
  const TemplateRoles after = ExpandTemplate(now);
  RolesByName old_roles;
  for (const RoleTemplate& role : before.roles) old_roles.emplace(role.generate_name, &role);
  Summary errors;
  if (!after.invalid.ok() && after.invalid != before.invalid) {
    errors.Add(std::string(after.invalid.message()));
  }
  AddSubjectErrors(old_roles, after, ns, errors);
  return ToStatus(errors);
}

absl::Status RefuseInstance(const ScopeInstance* old, const ScopeInstance& now,
                            std::string_view ns) {
  const Errors before = old == nullptr ? Errors() : ErrorsOf(*old, ns);
  Summary errors;
  for (const std::string& error : ErrorsOf(now, ns)) {
    if (!before.contains(error)) errors.Add(error);
  }
  return ToStatus(errors);
}

}  // namespace mandate::scope
