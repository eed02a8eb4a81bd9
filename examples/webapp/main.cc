// webapp-operator: runs WebApps, and counts them.
#include "base_mandate.h"
#include "cmd/program/program.h"
#include "summary/reconciler.h"
#include "webapp/reconciler.h"

int main(int argc, char** argv) {
  using mandate::MakeOnlyController;
  return mandate::RunProgram(
      {.name = "webapp-operator",
       .description = "Runs WebApps: a Deployment, a Service and a ConfigMap for each.",
       .version = "0.1.0",
       .base_mandate = &mandate::kBase,
       .components = [](auto) -> std::vector<mandate::ComponentSpec> {
         return {{&mandate::kWebapp, MakeOnlyController<webapp::MakeController>},
                 {&mandate::kWebappSummary, MakeOnlyController<webapp::MakeSummaryController>}};
       }},
      argc, argv);
}
