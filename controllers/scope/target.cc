#include "controllers/scope/target.h"

#include <optional>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

bool IsTerminating(const corev1::Namespace& ns) {
  return ns.metadata().has_deletiontimestamp() || ns.status().phase() == "Terminating";
}

// The maximum number of namespaces in a message; the others are only counted.
constexpr size_t kMaxListed = 5;

}  // namespace

absl::StatusOr<std::optional<LabelSelector>> NamespaceSelector(
    const operatorsv1alpha1::ScopeInstance& instance) {
  const std::string& json = instance.spec().namespaceselector().raw();
  if (json.empty() || json == "null") return std::nullopt;
  ASSIGN_OR_RETURN(LabelSelector selector, LabelSelector::FromJson(json, "spec.namespaceSelector"));
  return selector;
}

bool Target::MayContain(const std::string& ns) const {
  if (cluster || ns.empty()) return cluster && ns.empty();
  return !invalid.ok() || unread_selection || named.contains(ns) || usable.contains(ns) ||
         terminating.contains(ns);
}

Target ResolveTarget(const operatorsv1alpha1::ScopeInstance& instance,
                     const std::vector<corev1::Namespace>& namespaces, const absl::Status& unread) {
  Target target;
  const auto& named = instance.spec().namespaces();
  target.named.insert(named.begin(), named.end());
  const absl::StatusOr<std::optional<LabelSelector>> selector = NamespaceSelector(instance);
  target.invalid = selector.status();
  const bool selects = !selector.ok() || selector->has_value();
  target.cluster = named.empty() && !selects;
  if (target.cluster) return target;
  if (!unread.ok()) {
    target.unread_selection = selects;
    target.problems.push_back(StrCat("namespaces cannot be read: ", AsStd(unread.message())));
    return target;
  }

  absl::flat_hash_set<std::string_view> missing(named.begin(), named.end());
  for (const auto& ns : namespaces) {
    const std::string& name = ns.metadata().name();
    const bool is_named = missing.erase(name) > 0;
    const bool matches =
        selector.ok() && selector->has_value() && (*selector)->Matches(ns.metadata().labels());
    if (is_named || matches) (IsTerminating(ns) ? target.terminating : target.usable).insert(name);
  }
  size_t others = 0;
  const auto add = [&](const std::string& name, std::string_view what) {
    if (target.problems.size() == kMaxListed) return void(++others);
    target.problems.push_back(StrCat("namespace \"", name, "\" ", what));
  };
  for (const std::string& name : named) {
    if (target.terminating.contains(name)) {
      add(name, "is being deleted");
    } else if (missing.erase(name) > 0) {
      add(name, "not found");
    }
  }
  if (others > 0) {
    target.problems.push_back(StrCat(others, " more namespaces not found or being deleted"));
  }
  return target;
}

}  // namespace mandate::scope
