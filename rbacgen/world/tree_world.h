// A source tree as the world that `rbacgen chart` would make of it.
#ifndef RBACGEN_WORLD_TREE_WORLD_H_
#define RBACGEN_WORLD_TREE_WORLD_H_

#include <string>

#include "rbacgen/markers/declarations.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

struct TreeOptions {
  std::string ns = "mandate-system";
  std::string base_name = "mandate-manager";
  // The component of rules that have no component marker above them.
  std::string component = "manager";
};

// Gives each rule without a component to options.component.
void NameComponents(const TreeOptions& options, Sources* sources);

// One ServiceAccount, its roles and bindings for each component, and for base.
World TreeWorld(const Sources& sources, const TreeOptions& options);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_WORLD_TREE_WORLD_H_
