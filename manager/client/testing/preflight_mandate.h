// A mandate with a rule of each kind, for tests of preflight.
#pragma once

#include <string_view>

#include "manager/rbac/mandate.h"

namespace mandate {
namespace preflight_mandate {

inline constexpr std::string_view kWrite[] = {"create", "patch"};
inline constexpr std::string_view kRbac[] = {"rbac.authorization.k8s.io"};
inline constexpr std::string_view kBindings[] = {"rolebindings", "rolebindings/status"};
inline constexpr std::string_view kBind[] = {"bind"};
inline constexpr std::string_view kRoles[] = {"clusterroles"};
inline constexpr std::string_view kEdit[] = {"edit"};
inline constexpr std::string_view kCore[] = {""};
inline constexpr std::string_view kSecrets[] = {"secrets"};
inline constexpr std::string_view kGet[] = {"get"};
inline constexpr std::string_view kAll[] = {"*"};
inline constexpr std::string_view kMetrics[] = {"/metrics"};
inline constexpr rbac::MandateRule kRules[] = {
    {.rule = {.verbs = kWrite, .api_groups = kRbac, .resources = kBindings}},
    {.rule = {.verbs = kBind, .api_groups = kRbac, .resources = kRoles, .resource_names = kEdit}},
    {.rule = {.verbs = kGet, .non_resource_urls = kMetrics}},
    {.rule = {.verbs = kGet, .api_groups = kCore, .resources = kSecrets}, .ns = "mandate"},
    {.rule = {.verbs = kAll, .api_groups = kAll, .resources = kAll}, .external = true},
};

}  // namespace preflight_mandate

inline constexpr rbac::Mandate kPreflightMandate = {.component = "scope",
                                                    .rules = preflight_mandate::kRules};

}  // namespace mandate
