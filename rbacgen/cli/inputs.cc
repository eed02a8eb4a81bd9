#include "rbacgen/cli/inputs.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <utility>

#include "absl/strings/str_join.h"
#include "manager/core/read_file.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "rbacgen/cli/command.h"
#include "rbacgen/lint/lint.h"
#include "rbacgen/markers/source_files.h"
#include "rbacgen/world/builtin_policy.h"
#include "rbacgen/world/identities.h"
#include "rbacgen/world/manifests.h"
#include "rbacgen/world/resource_names.h"

namespace mandate::rbacgen {
namespace {

constexpr char kManifestsPrefix[] = "manifests:";

bool IsManifest(std::string_view path) {
  return path == "-" || path.ends_with(".yaml") || path.ends_with(".yml") ||
         path.ends_with(".json");
}

absl::StatusOr<World> ReadManifestFile(const std::string& path, const InputFlags& flags) {
  if (path == "-") {
    const auto text = ReadToEnd(STDIN_FILENO, kMaxFileBytes);
    if (text.ok()) return ReadManifests("standard input", *text, flags.tree.ns);
    return absl::UnavailableError(
        StrCat("cannot read standard input: ", AsStd(text.status().message())));
  }
  const auto text = ReadWholeFile(path);
  if (!text.ok()) {
    return absl::Status(text.status().code(), StrCat(path, ": ", AsStd(text.status().message())));
  }
  return ReadManifests(path, *text, flags.tree.ns);
}

absl::StatusOr<World> ReadManifestFolder(const std::string& folder, const InputFlags& flags) {
  std::error_code error;
  if (!std::filesystem::is_directory(folder, error)) return ReadManifestFile(folder, flags);
  std::vector<std::string> paths;
  for (std::filesystem::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->is_regular_file() && IsManifest(it->path().string())) {
      paths.push_back(it->path().string());
    }
  }
  if (error) return absl::NotFoundError(StrCat("cannot read ", folder, ": ", error.message()));
  std::sort(paths.begin(), paths.end());
  World world;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(World its, ReadManifestFile(path, flags));
    Merge(std::move(its), &world);
  }
  return world;
}

absl::StatusOr<World> ReadCluster(const InputFlags& flags) {
  ASSIGN_OR_RETURN(const std::string text,
                   Kubectl(flags.kubectl, {"get",
                                           "clusterroles,clusterrolebindings,roles,rolebindings,"
                                           "serviceaccounts",
                                           "-A", "-o", "json"}));
  ASSIGN_OR_RETURN(World world, ReadManifests("the cluster", text, flags.tree.ns));
  world.is_whole = true;
  if (flags.resource_names) {
    // The names are optional: without them, for example if an API service is down, plurals still
    // work.
    const auto names = Kubectl(flags.kubectl, {"api-resources", "--no-headers"});
    if (names.ok()) world.custom = ParseApiResources(*names);
  }
  return world;
}

// Finds the components of the accounts whose names have the form of the chart's names.
void NameAccounts(const TreeOptions& options, World* world) {
  for (const auto& [ns, name] : world->accounts) {
    if (ns != options.ns) continue;
    const rbac::ServiceAccountName account = {ns, name};
    if (name == options.base_name) world->components.try_emplace("base", account);
    if (name.starts_with(options.base_name + "-")) {
      world->components.try_emplace(name.substr(options.base_name.size() + 1), account);
    }
  }
}

bool HasNothing(const World& world) {
  return world.accounts.empty() && world.custom.empty() && world.policy.roles.empty() &&
         world.policy.cluster_roles.empty() && world.policy.role_bindings.empty() &&
         world.policy.cluster_role_bindings.empty();
}

bool HasBindings(const World& world) {
  return !world.policy.role_bindings.empty() || !world.policy.cluster_role_bindings.empty();
}

int Say(const absl::Status& status) {
  PrintMessage(AsStd(status.message()));
  return kExitUnknown;
}

// Applies --identity. 0, or the exit code of a mistake, after a message on standard error.
int TakeIdentities(const std::vector<std::string>& inputs, const InputFlags& flags, World* world) {
  const auto identities = ParseIdentities(flags.identities);
  absl::Status status = identities.status();
  if (status.ok() && world->knows_later) status = CheckComponents(*identities, world->components);
  if (!status.ok()) {
    PrintMessage(AsStd(status.message()));
    return kExitUnknown;
  }
  for (const std::string& missing : NameIdentities(*identities, world)) {
    PrintMessage(StrCat(absl::StrJoin(inputs, " and "), " has ", missing));
  }
  return 0;
}

std::vector<std::string> Split(const std::vector<std::string>& inputs) {
  std::vector<std::string> parts;
  for (const std::string& input : inputs) {
    for (size_t at = 0; at <= input.size();) {
      const size_t comma = std::min(input.find(',', at), input.size());
      if (comma > at) parts.push_back(input.substr(at, comma - at));
      at = comma + 1;
    }
  }
  return parts;
}

bool IsSource(const std::string& input) {
  return input != "cluster" && !input.starts_with(kManifestsPrefix) && !IsManifest(input);
}

// Adds an input that is not a source. 0, or the exit code of a mistake, after a message on standard
// error.
int AddPart(const std::string& input, const InputFlags& flags, World* world) {
  absl::StatusOr<World> part = World();
  if (input == "cluster") {
    part = ReadCluster(flags);
  } else if (input.starts_with(kManifestsPrefix)) {
    part = ReadManifestFolder(input.substr(sizeof kManifestsPrefix - 1), flags);
  } else {
    part = ReadManifestFile(input, flags);
  }
  if (!part.ok()) return Say(part.status());
  if (HasNothing(*part)) {
    PrintMessage(StrCat(input,
                        " has no role, no binding and no ServiceAccount; export those of a cluster "
                        "by kubectl get clusterroles,clusterrolebindings,roles,rolebindings,"
                        "serviceaccounts -A -o json"));
    return kExitUnknown;
  }
  Merge(*std::move(part), world);
  return 0;
}

}  // namespace

const char kInputHelp[] =
    "An INPUT is a folder or file of sources with markers; a file of manifests (.yaml, .json, or "
    "-\n"
    "for standard input), such as `kubectl get clusterroles,clusterrolebindings,roles,\n"
    "rolebindings,serviceaccounts -A -o json` or `helm template CHART` write; manifests:DIR;\n"
    "or the word cluster, which reads by kubectl. INPUTs joined by commas are read as one.\n"
    "Kubernetes' own roles, where bindings refer to them, are those of 1.36; can-i and who-can\n"
    "answer unknown where 1.30's differ. A role of the INPUT replaces Kubernetes' own.";

void AddInputFlags(CLI::App* command, Asks asks, InputFlags* flags) {
  command->add_option("--kubeconfig", flags->kubectl.kubeconfig,
                      "For `cluster`: the kubeconfig, if it is not kubectl's default");
  command->add_option("--context", flags->kubectl.context,
                      "For `cluster`: the context of the kubeconfig");
  command->add_option("--kubectl", flags->kubectl.program, "For `cluster`: the kubectl program")
      ->capture_default_str();
  command
      ->add_option(
          asks == Asks::kOfRequest ? "--manager-namespace" : "--manager-namespace,--namespace",
          flags->tree.ns, "The manager's namespace")
      ->check(IsNamespace())
      ->capture_default_str();
  command
      ->add_option("--base-name", flags->tree.base_name,
                   "The name of the manager's ServiceAccount; a component's is NAME-component")
      ->check(IsBaseName())
      ->capture_default_str();
  command
      ->add_option("--component-from", flags->component_from,
                   "How to name the component of rules without a +mandate:component marker: marker "
                   "(the component \"manager\"), dir (the name of their folder), file (the name of "
                   "their file)")
      ->transform(ComponentFromWords())
      ->default_str("marker");
  command
      ->add_option(
          "--identity", flags->identities,
          "COMPONENT=NAMESPACE/NAME: the ServiceAccount of a component whose name does not "
          "follow the rule; if given, all other components are ignored")
      ->allow_extra_args(false);
}

int ReadTree(const std::vector<std::string>& paths, const InputFlags& flags, Sources* sources) {
  SourceFlags source_flags;
  source_flags.paths = paths;
  source_flags.component_from = flags.component_from;
  Diagnostics diagnostics;
  if (const int misuse = ReadSources(source_flags, Severity::kWarning, sources, &diagnostics)) {
    return misuse;
  }
  LintAll(*sources, Severity::kWarning, &diagnostics);
  // If the markers have a mistake, the answer is unknown.
  if (Conclude(diagnostics) != kExitOk) return kExitUnknown;
  if (sources->declarations.empty()) {
    PrintMessage(StrCat("no +kubebuilder:rbac and no +mandate:rbac marker in ",
                        absl::StrJoin(paths, " and ")));
    return kExitUnknown;
  }
  NameComponents(flags.tree, sources);
  return 0;
}

int ReadWorld(const std::vector<std::string>& inputs, const InputFlags& flags, World* world) {
  const std::vector<std::string> parts = Split(inputs);
  std::vector<std::string> sources_paths;
  std::ranges::copy_if(parts, std::back_inserter(sources_paths), IsSource);
  bool has_tree = false;
  for (const std::string& input : parts) {
    if (!IsSource(input)) {
      if (const int error = AddPart(input, flags, world)) return error;
    } else if (!has_tree) {
      // All sources form one tree, at the position of the first one.
      has_tree = true;
      Sources sources;
      if (const int error = ReadTree(sources_paths, flags, &sources)) return error;
      Merge(TreeWorld(sources, flags.tree), world);
    }
  }
  if (!HasBindings(*world)) {
    const std::string names = absl::StrJoin(inputs, ",");
    PrintMessage(StrCat(names,
                        " has no ClusterRoleBinding and no RoleBinding, so the holders of its "
                        "roles are unknown; add bindings: kubectl get "
                        "clusterrolebindings,rolebindings -A -o json >bindings.json, then ",
                        names, ",bindings.json"));
    return kExitUnknown;
  }
  for (const std::string& object : RemoveRepeated(world)) {
    PrintMessage(StrCat("there are two objects with the name ", object,
                        "; the last one is used, as with kubectl apply"));
  }
  if (world->without_namespace > 0) {
    std::cerr << "rbacgen: objects without a namespace (" << world->without_namespace
              << ") are read as objects in " << flags.tree.ns
              << ", the manager's namespace (--manager-namespace)\n";
  }
  AddBuiltinRoles(world);
  ResolveAggregates(world);
  NameAccounts(flags.tree, world);
  return TakeIdentities(inputs, flags, world);
}

}  // namespace mandate::rbacgen
