// The flags and arguments with which commands name a world.
#pragma once

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
  std::vector<std::string> identities;  // the values of --identity, for ParseIdentities()
  bool resource_names = false;          // whether to ask a cluster for the names of resources, too
};

// Whether a command is about one request. For such a command, -n and --namespace name the namespace
// of the request, as in kubectl.
enum class Asks { kOfRequest, kOfAll };

// Adds --kubeconfig, --context, --manager-namespace (for kOfAll also --namespace), --base-name,
// --component-from and --identity. `flags` outlive the command.
void AddInputFlags(CLI::App* command, Asks asks, InputFlags* flags);

// The description of an INPUT for help texts.
extern const char kInputHelp[];

// Reads the declarations of sources. 0, or the exit code of a mistake, after a message on standard
// error.
int ReadTree(const std::vector<std::string>& paths, const InputFlags& flags, Sources* sources);

// Reads the inputs as one world. An input is "cluster"; a file of manifests, whose name ends with
// .yaml, .yml or .json, or "-"; "manifests:DIR" for all such files below DIR; or source files and
// folders. One argument may name several inputs, joined by commas. If several inputs have the same
// object, the last one counts. 0, or the exit code of a mistake, after a message on standard error.
// An input without RBAC objects and a world without bindings are mistakes too, because every answer
// would be "no subject".
int ReadWorld(const std::vector<std::string>& inputs, const InputFlags& flags, World* world);

}  // namespace mandate::rbacgen
