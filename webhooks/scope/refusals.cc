#include "webhooks/scope/refusals.h"

#include <algorithm>
#include <set>
#include <string>
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
using Errors = std::vector<std::string>;

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
  const auto account = rbac::ParseServiceAccountUser(name);
  if (account.has_value() && account->ns == ns) {
    return "it is a ServiceAccount of the manager's namespace";
  }
  return "";
}

Errors ErrorsOf(const ScopeTemplate& scope_template, std::string_view ns) {
  Errors errors;
  const TemplateRoles expanded = ExpandTemplate(scope_template);
  if (!expanded.invalid.ok()) errors.emplace_back(expanded.invalid.message());
  for (const RoleTemplate& role : expanded.roles) {
    for (const rbacv1::Subject& subject : *role.subjects) {
      if (const std::string why = WhyNever(subject, ns); !why.empty()) {
        errors.push_back(StrCat("role \"", role.generate_name, "\": ", subject.kind(), " \"",
                                subject.name(), "\" cannot be a subject, because ", why));
      }
    }
  }
  return errors;
}

Errors ErrorsOf(const ScopeInstance& instance, std::string_view ns) {
  Errors errors;
  const absl::Status selector = NamespaceSelector(instance).status();
  if (!selector.ok()) errors.emplace_back(selector.message());
  for (const std::string& name : instance.spec().namespaces()) {
    if (name != ns && name != kKubeSystem) continue;
    errors.push_back(StrCat("spec.namespaces: \"", name, "\" cannot be a target, because ",
                            name == ns ? "it is the manager's namespace"
                                       : "the control plane's ServiceAccounts are there"));
  }
  return errors;
}

absl::Status Refuse(const Errors& old, const Errors& now) {
  std::set<std::string> added;
  for (const std::string& error : now) {
    if (std::ranges::find(old, error) == old.end()) added.insert(error);
  }
  if (added.empty()) return absl::OkStatus();
  return absl::InvalidArgumentError(Summarise({added.begin(), added.end()}));
}

}  // namespace

absl::Status RefuseTemplate(const ScopeTemplate* old, const ScopeTemplate& now,
                            std::string_view ns) {
  return Refuse(old == nullptr ? Errors() : ErrorsOf(*old, ns), ErrorsOf(now, ns));
}

absl::Status RefuseInstance(const ScopeInstance* old, const ScopeInstance& now,
                            std::string_view ns) {
  return Refuse(old == nullptr ? Errors() : ErrorsOf(*old, ns), ErrorsOf(now, ns));
}

}  // namespace mandate::scope
