#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "manager/component.h"
#include "manager/controller/controller.h"

absl::StatusOr<std::unique_ptr<mandate::Controller>> MakeGreeter(
    const mandate::Component& component);
