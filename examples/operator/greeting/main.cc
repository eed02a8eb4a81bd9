// greeting-operator: keeps a ConfigMap for each Greeting.
#include "cmd/program/program.h"
#include "greeting/base_mandate.h"
#include "greeting/reconciler.h"

int main(int argc, char** argv) {
  return mandate::RunProgram(
      {.name = "greeting-operator",
       .description = "Keeps a ConfigMap for each Greeting.",
       .version = "0.1.0",
       .base_mandate = &mandate::kBase,
       .components = [](auto) -> std::vector<mandate::ComponentSpec> {
         return {{&mandate::kGreeting, mandate::MakeOnlyController<example::MakeController>}};
       }},
      argc, argv);
}
