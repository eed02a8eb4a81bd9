#include "manager/base_permissions.h"

#include <utility>

#include "manager/client/self_review.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/rbac/risky_rights.h"
#include "manager/rbac/rule.h"

namespace mandate {
namespace {

using rbac::RiskyRight;

constexpr size_t kAtOnce = 16;  // reviews

// Rights to objects of certain names are not excess: base has such rights for its components.
bool IsExcess(const RiskyRight& risky) {
  return risky.severity == RiskyRight::Severity::kCritical && risky.name.empty();
}

std::string ResourceOf(const RiskyRight& risky) {
  return risky.subresource.empty() ? std::string(risky.resource)
                                   : StrCat(risky.resource, "/", risky.subresource);
}

}  // namespace

absl::StatusOr<BasePermissions> ReviewBasePermissions(const CallContext& context, RestClient& base,
                                                      std::string_view ns) {
  BasePermissions permissions;
  const rbac::Rule anything{.verbs = {"*"}, .api_groups = {"*"}, .resources = {"*"}};
  ASSIGN_OR_RETURN(const auto all, CanI(context, base, "", anything));
  permissions.unlimited = all.status().allowed();
  if (permissions.unlimited) return permissions;
  // Two for each right: in the whole cluster, and in the manager's namespace.
  std::vector<AccessQuestion> questions;
  std::vector<std::string> texts;
  for (const RiskyRight& risky : rbac::RiskyRights()) {
    if (!IsExcess(risky)) continue;
    for (const std::string_view verb : risky.Verbs()) {
      rbac::Rule rule{.verbs = {std::string(verb)},
                      .api_groups = {std::string(risky.group)},
                      .resources = {ResourceOf(risky)}};
      questions.push_back({"", rule});
      questions.push_back({std::string(ns), std::move(rule)});
      texts.push_back(StrCat(verb, " ", ResourceOf(risky), " (", risky.consequence, ")"));
    }
  }
  ASSIGN_OR_RETURN(const auto answers,
                   ReviewOwnAccess(context, base, std::move(questions), kAtOnce));
  for (size_t i = 0; i < texts.size(); ++i) {
    if (answers[2 * i].allowed()) {
      permissions.excess.push_back(std::move(texts[i]));
    } else if (answers[2 * i + 1].allowed()) {
      permissions.excess.push_back(StrCat(texts[i], " in namespace ", ns));
    }
  }
  return permissions;
}

absl::Status RejectUnlimited(const BasePermissions& permissions, std::string_view username,
                             std::string_view ns, std::string_view service_account) {
  if (!permissions.unlimited) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat(
      "the manager's own credential may do anything in the cluster (its user is \"", username,
      "\"), and the manager must not run as an administrator; use the token of its own "
      "ServiceAccount, which `kubectl create token ",
      service_account, " -n ", ns, "` prints"));
}

}  // namespace mandate
