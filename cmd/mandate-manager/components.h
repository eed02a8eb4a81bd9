// All components of this program.
#pragma once

#include <memory>
#include <vector>

#include "controllers/certificates/settings.h"
#include "manager/component.h"

namespace mandate {

std::vector<ComponentSpec> AllComponents(
    std::shared_ptr<const certificates::Settings> certificates);

}  // namespace mandate
