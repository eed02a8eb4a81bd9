#include "cmd/mandate-manager/components.h"

#include <utility>

#include "controllers/scope/instance_reconciler.h"
#include "controllers/scope/template_reconciler.h"
#include "manager/core/status_macros.h"
#include "manager/telemetry/mandates.h"

namespace mandate {
namespace {

// A component of one controller.
template <auto kMake>
absl::StatusOr<Controllers> One(const Component& component) {
  ASSIGN_OR_RETURN(auto controller, kMake(component));
  Controllers controllers;
  controllers.push_back(std::move(controller));
  return controllers;
}

// A component that acts in the process's own service.
absl::StatusOr<Controllers> None(const Component&) { return Controllers(); }

}  // namespace

std::vector<ComponentSpec> AllComponents() {
  return {
      {&kScopeTemplate, One<scope::MakeTemplateController>},
      {&kScopeInstance, One<scope::MakeInstanceController>},
      {&kMetricsAuth, None},
  };
}

}  // namespace mandate
