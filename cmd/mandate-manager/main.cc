// mandate-manager: runs the components of this project in one process.
#include "cmd/mandate-manager/base_mandate.h"
#include "cmd/mandate-manager/components.h"
#include "cmd/program/program.h"
#include "version.h"

int main(int argc, char** argv) {
  return mandate::RunProgram(
      {.name = "mandate-manager",
       .description = "Runs the controllers of this project, each under its own ServiceAccount "
                      "with exactly the permissions that its source declares.",
       .version = mandate::kVersion,
       .base_mandate = &mandate::kBase,
       .components = mandate::AllComponents},
      argc, argv);
}
