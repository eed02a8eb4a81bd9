#include "controllers/scope/effect.h"

#include <cstddef>

#include "manager/core/strings.h"

namespace mandate::scope {
namespace {

// The maximum number of pairs of a group and a resource that are examined in all rules: one rule
// with thousands of both has millions of pairs.
constexpr size_t kMaxPairs = 10'000;

// "pods" of "pods/log".
std::string Plural(const std::string& resource) { return resource.substr(0, resource.find('/')); }

bool DependsOnScope(const std::string& group, const std::string& plural) {
  // A RoleBinding in namespace x does grant `get` of the Namespace x itself.
  return group != "*" && plural != "*" && !(group.empty() && plural == "namespaces");
}

// Calls `visit` for each group and resource whose scope determines an effect, up to kMaxPairs
// times.
template <class Visit>
void VisitResources(const std::vector<RoleTemplate>& roles, const Visit& visit) {
  size_t pairs = 0;
  for (const RoleTemplate& role : roles) {
    for (const auto& rule : role.rules) {
      for (const std::string& group : rule.apigroups()) {
        for (const std::string& resource : rule.resources()) {
          if (++pairs > kMaxPairs) return;
          if (DependsOnScope(group, Plural(resource))) visit(group, resource);
        }
      }
    }
  }
}

}  // namespace

std::set<std::pair<std::string, std::string>> ResourcesOf(const std::vector<RoleTemplate>& roles) {
  std::set<std::pair<std::string, std::string>> resources;
  VisitResources(roles, [&](const std::string& group, const std::string& resource) {
    resources.emplace(group, Plural(resource));
  });
  return resources;
}

Effect EffectInNamespaces(const std::vector<RoleTemplate>& roles, const KnownScopes& scopes) {
  Effect effect;
  std::set<std::string> ineffective;
  for (const RoleTemplate& role : roles) {
    for (const auto& rule : role.rules) {
      ineffective.insert(rule.nonresourceurls().begin(), rule.nonresourceurls().end());
    }
  }
  VisitResources(roles, [&](const std::string& group, const std::string& resource) {
    const auto scope = scopes.find({group, Plural(resource)});
    if (scope == scopes.end()) return;
    if (!scope->second.has_value()) effect.unknown = true;
    if (scope->second == Scope::kCluster) {
      ineffective.insert(group.empty() ? resource : StrCat(resource, ".", group));
    }
  });
  effect.ineffective.assign(ineffective.begin(), ineffective.end());
  return effect;
}

}  // namespace mandate::scope
