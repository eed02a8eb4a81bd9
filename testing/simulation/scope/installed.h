// The objects that the chart installs: the CRDs, and the accounts and roles of the manager and its
// components, as their markers declare them.
#pragma once

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
// A rule for each verb and resource of the mandate, except `without_verb` of `without_resource`.
Json::Value RulesOf(const rbac::Mandate& mandate, std::string_view without_verb = "",
                    std::string_view without_resource = "");
// The CRD of "scopetemplates", "scopeinstances".
Json::Value Definition(const std::string& plural);

// All objects, in an order in which they can be created.
std::vector<Json::Value> InstalledObjects();

}  // namespace mandate::simulation
