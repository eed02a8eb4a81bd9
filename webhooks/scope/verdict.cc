#include "webhooks/scope/verdict.h"

#include <set>
#include <string>
#include <utility>

#include "controllers/scope/summary.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/rbac/quote.h"

namespace mandate::scope {
namespace {

// As the API server writes it in a 403.
std::string CannotText(std::string_view user, const AccessQuestion& question) {
  const rbac::Rule& rule = question.rule;
  std::string text = StrCat("user ", rbac::Quote(user), " cannot ", rule.verbs[0]);
  if (!rule.non_resource_urls.empty()) {
    return StrCat(text, " path ", rbac::Quote(rule.non_resource_urls[0]));
  }
  StrAppend(&text, " resource ", rbac::Quote(rule.resources[0]));
  if (!rule.resource_names.empty() && rule.resource_names[0] != kEveryName) {
    StrAppend(&text, " ", rbac::Quote(rule.resource_names[0]));
  }
  StrAppend(&text, " in API group ", rbac::Quote(rule.api_groups[0]));
  if (question.ns.empty()) return text + " at the cluster scope";
  return StrCat(text, " in the namespace ", rbac::Quote(question.ns));
}

}  // namespace

absl::Status CheckRequirements(std::string_view user, const std::vector<Requirement>& requirements,
                               const AskAccess& ask) {
  std::vector<AccessQuestion> shortcuts;
  for (const Requirement& requirement : requirements) shortcuts.push_back(requirement.shortcut);
  if (shortcuts.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<AccessAnswer> may, ask(std::move(shortcuts)));

  std::vector<AccessQuestion> rights;
  std::vector<size_t> owner;  // of each right: the index of its requirement
  for (size_t i = 0; i < requirements.size(); ++i) {
    if (may[i].allowed() || requirements[i].only_shortcut) continue;
    for (const AccessQuestion& right : requirements[i].rights) {
      rights.push_back(right);
      owner.push_back(i);
    }
  }
  std::vector<AccessAnswer> held;
  if (!rights.empty()) {
    ASSIGN_OR_RETURN(held, ask(rights));
  }

  std::vector<std::string> missing;
  std::set<std::string> known;
  std::set<size_t> unmet;
  const auto add = [&](const AccessQuestion& question, size_t requirement) {
    unmet.insert(requirement);
    std::string text = CannotText(user, question);
    if (known.insert(text).second) missing.push_back(std::move(text));
  };
  for (size_t i = 0; i < requirements.size(); ++i) {
    if (requirements[i].only_shortcut && !may[i].allowed()) add(requirements[i].shortcut, i);
  }
  for (size_t i = 0; i < rights.size(); ++i) {
    if (!held[i].allowed()) add(rights[i], owner[i]);
  }
  if (missing.empty()) return absl::OkStatus();
  const Requirement& first = requirements[*unmet.begin()];
  return absl::PermissionDeniedError(StrCat(
      "attempting to grant RBAC permissions not currently held: ", Summarise(missing),
      "; the user needs these permissions, or verb ", rbac::Quote(first.shortcut.rule.verbs[0]),
      " on clusterroles.rbac.authorization.k8s.io, ", first.what));
}

}  // namespace mandate::scope
