// Makes a world of a source tree: the objects that `rbacgen chart` would make of it.
#pragma once

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

// Sets the component of each rule without a component to options.component, and the namespace of
// each rule for the manager's own namespace to options.ns.
void NameComponents(const TreeOptions& options, Sources* sources);

// For base and each component: a ServiceAccount with its roles and bindings.
World TreeWorld(const Sources& sources, const TreeOptions& options);

}  // namespace mandate::rbacgen
