// mirror-operator: the program of testing/several_clusters/cluster_test.
#include <memory>
#include <utility>
#include <vector>

#include "cmd/program/program.h"
#include "manager/controller/request_channel.h"
#include "manager/core/status_macros.h"
#include "testing/several_clusters/base_mandate.h"
#include "testing/several_clusters/mirror.h"
#include "version.h"

namespace mandate {
namespace {

absl::StatusOr<Controllers> Only(absl::StatusOr<std::unique_ptr<Controller>> controller) {
  RETURN_IF_ERROR(controller.status());
  Controllers controllers;
  controllers.push_back(*std::move(controller));
  return controllers;
}

std::vector<ComponentSpec> Components() {
  const auto requests = std::make_shared<RequestChannel>();
  const auto leaf = std::make_shared<const Component*>(nullptr);
  return {{.mandate = &kMirrorLeaf,
           .make_controllers =
               [=](const Component& component) {
                 *leaf = &component;
                 return Only(mirror::MakeLeafController(component, requests));
               },
           .cluster = "leaf"},
          {.mandate = &kMirrorHub,
           .make_controllers = [=](const Component& component) -> absl::StatusOr<Controllers> {
             if (*leaf == nullptr) {
               return absl::FailedPreconditionError(
                   "mirror-hub writes by mirror-leaf: enable both components");
             }
             return Only(mirror::MakeHubController(component, **leaf, requests));
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
