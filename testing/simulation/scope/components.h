// The components of the simulated process.
#ifndef TESTING_SIMULATION_SCOPE_COMPONENTS_H_
#define TESTING_SIMULATION_SCOPE_COMPONENTS_H_

#include <vector>

#include "manager/component.h"

namespace mandate::simulation {

// scope-template and scope-instance.
std::vector<ComponentSpec> ScopeComponents();

}  // namespace mandate::simulation

#endif  // TESTING_SIMULATION_SCOPE_COMPONENTS_H_
