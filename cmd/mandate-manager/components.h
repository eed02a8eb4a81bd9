// All components of this program.
#ifndef CMD_MANDATE_MANAGER_COMPONENTS_H_
#define CMD_MANDATE_MANAGER_COMPONENTS_H_

#include <vector>

#include "manager/component.h"

namespace mandate {

std::vector<ComponentSpec> AllComponents();

}  // namespace mandate

#endif  // CMD_MANDATE_MANAGER_COMPONENTS_H_
