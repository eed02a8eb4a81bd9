// All components of this program.
#ifndef CMD_MANDATE_MANAGER_COMPONENTS_H_
#define CMD_MANDATE_MANAGER_COMPONENTS_H_

#include <memory>
#include <vector>

#include "controllers/certificates/webhook_certificates.h"
#include "manager/component.h"

namespace mandate {

std::vector<ComponentSpec> AllComponents(
    std::shared_ptr<const certificates::Settings> certificates);

}  // namespace mandate

#endif  // CMD_MANDATE_MANAGER_COMPONENTS_H_
