#include "manager/base_power.h"

#include "manager/client/self_review.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/rbac/rule.h"

namespace mandate {
namespace {

struct Right {
  std::string_view verb;
  std::string_view group;
  std::string_view resource;
  std::string_view of;  // for the message: of which objects
  bool namespaced = true;
};

constexpr Right kAnything{.verb = "*", .group = "*", .resource = "*", .of = ""};

// Each of them leads to the permissions of another user. Base has the first for the ServiceAccounts
// of its components only.
constexpr std::string_view kRbac = "rbac.authorization.k8s.io";
constexpr Right kExcess[] = {
    {"create", "", "serviceaccounts/token", "of every ServiceAccount"},
    {"impersonate", "", "serviceaccounts", "every ServiceAccount"},
    {"impersonate", "", "users", "every user", /*namespaced=*/false},
    {"impersonate", "", "groups", "every group", /*namespaced=*/false},
    {"get", "", "secrets", "every Secret"},
    {"create", "", "pods", "with every ServiceAccount"},
    {"bind", kRbac, "clusterroles", "every ClusterRole", /*namespaced=*/false},
    {"escalate", kRbac, "clusterroles", "every ClusterRole", /*namespaced=*/false},
};

absl::StatusOr<bool> Holds(const CallContext& context, RestClient& base, const Right& right,
                           std::string_view ns) {
  const rbac::Rule rule{.verbs = {std::string(right.verb)},
                        .api_groups = {std::string(right.group)},
                        .resources = {std::string(right.resource)}};
  ASSIGN_OR_RETURN(const auto review, MayI(context, base, ns, rule));
  return review.status().allowed();
}

std::string Text(const Right& right) {
  return StrCat(right.verb, " ", right.resource, " (", right.of, ")");
}

}  // namespace

absl::StatusOr<BasePower> AskBasePower(const CallContext& context, RestClient& base,
                                       std::string_view ns) {
  BasePower power;
  ASSIGN_OR_RETURN(power.anything, Holds(context, base, kAnything, ""));
  if (power.anything) return power;
  for (const Right& right : kExcess) {
    ASSIGN_OR_RETURN(const bool everywhere, Holds(context, base, right, ""));
    if (everywhere) {
      power.excess.push_back(Text(right));
      continue;
    }
    if (!right.namespaced) continue;
    ASSIGN_OR_RETURN(const bool here, Holds(context, base, right, ns));
    if (here) power.excess.push_back(StrCat(Text(right), " in namespace ", ns));
  }
  return power;
}

absl::Status RefuseAnything(const BasePower& power, std::string_view username,
                            std::string_view ns) {
  if (!power.anything) return absl::OkStatus();
  return absl::FailedPreconditionError(StrCat(
      "the manager's own credential may do anything in the cluster (its user is \"", username,
      "\"), and the manager must not run as an administrator; use the token of its own "
      "ServiceAccount, which `kubectl create token mandate-manager -n ",
      ns, "` prints"));
}

}  // namespace mandate
