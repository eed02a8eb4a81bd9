#include "base_mandate.h"
#include "cmd/program/program.h"
#include "controllers/access_observer/access_observer.h"
#include "greeter.h"
#include "mandates.h"

int main(int argc, char** argv) {
  return mandate::RunProgram(
      {.name = "greeter-manager",
       .description = "Greets each ConfigMap.",
       .version = VERSION,
       .base_mandate = &mandate::kBase,
       .components = [](auto) -> std::vector<mandate::ComponentSpec> {
         using mandate::MakeOnlyController;
         return {{&mandate::kGreeter, MakeOnlyController<MakeGreeter>},
                 {&mandate::kAccessObserver, MakeOnlyController<mandate::access::MakeController>}};
       }},
      argc, argv);
}
