#include "testing/simulation/scope/components.h"

#include <utility>

#include "controllers/scope/instance_reconciler.h"
#include "controllers/scope/template_reconciler.h"
#include "manager/core/status_macros.h"

namespace mandate::simulation {
namespace {

// A component of one controller.
template <class Make>
auto Only(Make make) {
  return [make](const Component& component) -> absl::StatusOr<Controllers> {
    ASSIGN_OR_RETURN(auto controller, make(component));
    Controllers controllers;
    controllers.push_back(std::move(controller));
    return controllers;
  };
}

}  // namespace

std::vector<ComponentSpec> ScopeComponents() {
  return {
      {&kScopeTemplate, Only([](const Component& c) { return scope::MakeTemplateController(c); })},
      {&kScopeInstance, Only([](const Component& c) { return scope::MakeInstanceController(c); })}};
}

}  // namespace mandate::simulation
