#include "cmd/mandate-manager/components.h"

#include "controllers/scope/instance_reconciler.h"
#include "controllers/scope/template_reconciler.h"
#include "manager/telemetry/mandates.h"

namespace mandate {
namespace {

// For components that serve the process itself, and so have no controller.
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
