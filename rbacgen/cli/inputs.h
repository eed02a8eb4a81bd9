// The flags and arguments by which the commands name a world.
#ifndef RBACGEN_CLI_INPUTS_H_
#define RBACGEN_CLI_INPUTS_H_

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/statusor.h"
#include "rbacgen/markers/component_from.h"
#include "rbacgen/markers/declarations.h"
#include "rbacgen/world/kubectl.h"
#include "rbacgen/world/tree_world.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

struct InputFlags {
  KubectlOptions kubectl;
  TreeOptions tree;
  ComponentFrom component_from = ComponentFrom::kMarker;
  std::vector<std::string> identities;  // ParseIdentities()
  bool resource_names = false;          // whether to ask a cluster for those, too
};

// Whether a command is about one request, whose namespace -n and --namespace then name, as for
// kubectl.
enum class Asks { kOfRequest, kOfAll };

// Adds --kubeconfig, --context, --manager-namespace (kOfAll: also --namespace), --base-name,
// --component-from, --identity. `flags` outlive the command.
void AddInputFlags(CLI::App* command, Asks asks, InputFlags* flags);

// The description of an INPUT for help texts.
extern const char kInputHelp[];

// The sources' declarations. The exit code of a mistake, reported on standard error, or 0.
int ReadTree(const std::vector<std::string>& paths, const InputFlags& flags, Sources* sources);

// Each input is "cluster"; a file of manifests, whose name ends with .yaml, .yml or .json, or "-";
// "manifests:DIR", all such files below it; or source files and folders. Several are one world,
// also joined by commas; of an object that several have, the last one's counts. The exit code of a
// mistake, reported on standard error, or 0. An input without an RBAC object and a world without a
// binding are mistakes, too: every answer would be "no subject".
int ReadWorld(const std::vector<std::string>& inputs, const InputFlags& flags, World* world);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_CLI_INPUTS_H_
