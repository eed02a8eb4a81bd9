#include "testing/simulation/scope/components.h"

#include <utility>

#include "controllers/scope/instance_reconciler.h"
#include "controllers/scope/template_reconciler.h"

namespace mandate::simulation {
namespace {

auto Only(absl::StatusOr<std::unique_ptr<Controller>> (*make)(const Component&)) {
  return [make](const Component& component) -> absl::StatusOr<Controllers> {
    auto controller = make(component);
    if (!controller.ok()) return controller.status();
    Controllers controllers;
    controllers.push_back(*std::move(controller));
    return controllers;
  };
}

}  // namespace

std::vector<ComponentSpec> ScopeComponents() {
  return {{&kScopeTemplate, Only(scope::MakeTemplateController)},
          {&kScopeInstance, Only(scope::MakeInstanceController)}};
}

}  // namespace mandate::simulation
