#include "rbacgen/world/tree_world.h"

#include <utility>

#include "manager/core/strings.h"
#include "manager/rbac/mandate.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {
namespace {

void Add(const ComponentMandate& mandate, const std::string& account, const TreeOptions& options,
         World* world) {
  const std::vector<rbac::Subject> subjects = {{"ServiceAccount", "", account, options.ns}};
  world->components[mandate.name] = {options.ns, account};
  for (const Grant& grant : mandate.grants) {
    if (grant.external) {
      world->later.push_back({mandate.name, grant.ns, grant.rules});
    } else if (grant.ns.empty()) {
      world->policy.cluster_roles.push_back({account, grant.rules});
      world->policy.cluster_role_bindings.push_back(
          {account, {rbac::kRbacGroup, "ClusterRole", account}, subjects});
    } else {
      world->policy.roles.push_back({grant.ns, account, grant.rules});
      world->policy.role_bindings.push_back(
          {grant.ns, account, {rbac::kRbacGroup, "Role", account}, subjects});
    }
  }
}

}  // namespace

void NameComponents(const TreeOptions& options, Sources* sources) {
  for (Declaration& d : sources->declarations) {
    if (d.ns == rbac::kManagerNamespace) d.ns = options.ns;
    if (!d.component.empty()) continue;
    d.component = options.component;
    sources->components[d.component].push_back(d.place);
  }
}

World TreeWorld(const Sources& sources, const TreeOptions& options) {
  World world;
  world.knows_later = true;
  const std::vector<ComponentMandate> mandates = BuildMandates(sources);
  for (const ComponentMandate& mandate : mandates) {
    Add(mandate, ServiceAccountName(options.base_name, mandate.name), options, &world);
  }
  Add(BuildBaseMandate(mandates, options.base_name, options.ns), options.base_name, options,
      &world);
  NoteSubjects(&world);
  return world;
}

}  // namespace mandate::rbacgen
