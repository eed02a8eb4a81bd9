#include "base_mandate.h"
#include "cmd/program/program.h"
#include "greeter.h"
#include "mandates.h"

int main(int argc, char** argv) {
  return mandate::RunProgram(
      {.name = "greeter-manager",
       .description = "Greets each ConfigMap.",
       .version = VERSION,
       .base_mandate = &mandate::kBase,
       .components = [](auto) -> std::vector<mandate::ComponentSpec> {
         return {{&mandate::kGreeter, mandate::MakeOnlyController<MakeGreeter>}};
       }},
      argc, argv);
}
