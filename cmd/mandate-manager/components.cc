#include "cmd/mandate-manager/components.h"

#include <utility>

#include "controllers/scope/instance_reconciler.h"
#include "controllers/scope/template_reconciler.h"
#include "manager/core/status_macros.h"
#include "manager/telemetry/mandates.h"

namespace mandate {
namespace {

template <auto kMake>
absl::StatusOr<Controllers> SingleController(const Component& component) {
  ASSIGN_OR_RETURN(auto controller, kMake(component));
  Controllers controllers;
  controllers.push_back(std::move(controller));
  return controllers;
}

// Of a component that serves the process itself.
absl::StatusOr<Controllers> NoControllers(const Component&) { return Controllers(); }

}  // namespace

std::vector<ComponentSpec> AllComponents() {
  return {
      {&kScopeTemplate, SingleController<scope::MakeTemplateController>},
      {&kScopeInstance, SingleController<scope::MakeInstanceController>},
      {&kMetricsAuth, NoControllers},
  };
}

}  // namespace mandate
