// The components of the simulated process.
#pragma once

#include <vector>

#include "manager/component.h"

namespace mandate::simulation {

// scope-template and scope-instance.
std::vector<ComponentSpec> ScopeComponents();

}  // namespace mandate::simulation
