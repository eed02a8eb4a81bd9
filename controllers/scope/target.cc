#include "controllers/scope/target.h"

#include <map>
#include <optional>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

bool IsTerminating(const corev1::Namespace& ns) {
  return ns.metadata().has_deletiontimestamp() || ns.status().phase() == "Terminating";
}

}  // namespace

absl::StatusOr<std::optional<LabelSelector>> NamespaceSelector(
    const operatorsv1alpha1::ScopeInstance& instance) {
  const std::string& json = instance.spec().namespaceselector().raw();
  if (json.empty() || json == "null") return std::nullopt;
  ASSIGN_OR_RETURN(LabelSelector selector, LabelSelector::FromJson(json, "spec.namespaceSelector"));
  return selector;
}

absl::StatusOr<Target> ResolveTarget(const operatorsv1alpha1::ScopeInstance& instance,
                                     const std::vector<corev1::Namespace>& namespaces) {
  ASSIGN_OR_RETURN(const std::optional<LabelSelector> selector, NamespaceSelector(instance));
  Target target;
  target.cluster = instance.spec().namespaces().empty() && !selector.has_value();
  if (target.cluster) return target;

  std::map<std::string, const corev1::Namespace*> by_name;
  for (const auto& ns : namespaces) by_name[ns.metadata().name()] = &ns;
  for (const std::string& name : instance.spec().namespaces()) {
    if (!target.namespaces.insert(name).second) continue;
    const auto found = by_name.find(name);
    if (found == by_name.end()) {
      target.problems.push_back(StrCat("namespace \"", name, "\" not found"));
    } else if (IsTerminating(*found->second)) {
      target.problems.push_back(StrCat("namespace \"", name, "\" is being deleted"));
    } else {
      target.usable.insert(name);
    }
  }
  if (!selector.has_value()) return target;
  for (const auto& [name, ns] : by_name) {
    if (!selector->Matches(ns->metadata().labels())) continue;
    target.namespaces.insert(name);
    if (!IsTerminating(*ns)) target.usable.insert(name);
  }
  return target;
}

}  // namespace mandate::scope
