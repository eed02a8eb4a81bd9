// mirror-operator: the program of testing/several_clusters/cluster_test.
#include <memory>
#include <vector>

#include "cmd/program/program.h"
#include "manager/controller/request_channel.h"
#include "testing/several_clusters/base_mandate.h"
#include "testing/several_clusters/mirror.h"
#include "version.h"

namespace mandate {
namespace {

std::vector<ComponentSpec> Components() {
  const auto requests = std::make_shared<RequestChannel>();
  const auto leaf = std::make_shared<const Component*>(nullptr);
  return {{.mandate = &kMirrorLeaf,
           .make_controllers = [=](const Component& component) -> absl::StatusOr<Controllers> {
             *leaf = &component;
             Controllers controllers(1);
             auto controller = mirror::MakeLeafController(component, requests);
             if (!controller.ok()) return controller.status();
             controllers[0] = *std::move(controller);
             return controllers;
           },
           .cluster = "leaf"},
          {.mandate = &kMirrorHub,
           .make_controllers = [=](const Component& component) -> absl::StatusOr<Controllers> {
             Controllers controllers(1);
             auto controller = mirror::MakeHubController(component, **leaf, requests);
             if (!controller.ok()) return controller.status();
             controllers[0] = *std::move(controller);
             return controllers;
           }}};
}

}  // namespace
}  // namespace mandate

int main(int argc, char** argv) {
  return mandate::RunProgram(
      {.name = "mirror-operator",
       .description = "Copies the ConfigMaps of one namespace to another cluster.",
       .version = mandate::kVersion,
       .base_mandate = &mandate::kBase,
       .components = [](auto) { return mandate::Components(); }},
      argc, argv);
}
