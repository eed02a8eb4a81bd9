// What the chart installs in a cluster: the CRDs, and the accounts and roles of the manager and its
// components, as their markers declare them.
#ifndef TESTING_SIMULATION_SCOPE_INSTALLED_H_
#define TESTING_SIMULATION_SCOPE_INSTALLED_H_

#include <jsoncpp/json/json.h>

#include <string>
#include <string_view>
#include <vector>

#include "manager/rbac/mandate.h"

namespace mandate::simulation {

inline constexpr char kManagerNamespace[] = "mandate-system";
inline constexpr char kBaseAccount[] = "mandate-manager";
inline constexpr char kBaseToken[] = "base-token";

// "mandate-manager-scope-template"
std::string AccountOf(const rbac::Mandate& mandate);

Json::Value AccountObject(const std::string& name);
Json::Value BindingObject(std::string_view kind, std::string_view ns, const std::string& name,
                          std::string_view role_kind);
// A rule for each verb and resource of the mandate, without `without_verb` of `without_resource`.
Json::Value RulesOf(const rbac::Mandate& mandate, std::string_view without_verb = "",
                    std::string_view without_resource = "");
// The CRD of "scopetemplates", "scopeinstances".
Json::Value Definition(const std::string& plural);

// Everything, in the order in which it can be created.
std::vector<Json::Value> InstalledObjects();

}  // namespace mandate::simulation

#endif  // TESTING_SIMULATION_SCOPE_INSTALLED_H_
