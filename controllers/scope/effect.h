// The rules of a ScopeTemplate that grant nothing if they are bound in namespaces.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "controllers/scope/role_template.h"
#include "manager/object/kind.h"

namespace mandate::scope {

// The scope of each resource, by API group and name; nullopt if it is unknown at the moment.
// Resources that the server does not serve are absent.
using KnownScopes = std::map<std::pair<std::string, std::string>, std::optional<Scope>>;

// The resources whose scope determines the effect of these roles' rules, up to a limit. Wildcards
// always have an effect and are omitted.
std::set<std::pair<std::string, std::string>> ResourcesOf(const std::vector<RoleTemplate>& roles);

struct Effect {
  // Resources and URLs without a meaning in a RoleBinding: "nodes", "/metrics".
  std::vector<std::string> ineffective;
  // The scope of a resource is unknown at the moment: the reported condition stays.
  bool unknown = false;
};

Effect EffectInNamespaces(const std::vector<RoleTemplate>& roles, const KnownScopes& scopes);

}  // namespace mandate::scope
