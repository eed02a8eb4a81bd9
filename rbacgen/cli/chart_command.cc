// rbacgen chart: makes the ServiceAccounts, roles and bindings of components, as part of a Helm
// chart or as plain manifests.
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "rbacgen/cli/command.h"
#include "rbacgen/cli/output_paths.h"
#include "rbacgen/cli/read_webhooks.h"
#include "rbacgen/emit/chart/chart_objects.h"
#include "rbacgen/emit/chart/chart_switches.h"
#include "rbacgen/emit/chart/helm_chart.h"
#include "rbacgen/markers/mandates.h"
#include "rbacgen/markers/minimal_rules.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {
namespace {

struct Flags {
  std::string format = "helm";
  std::string out_dir;
  std::string out;
  bool no_fences = false;
  bool minimal = false;
  ChartNames names;
  // As in a new chart's values, components without controllers are not included.
  ChartSettings settings = {.with = {}};
  std::vector<std::string> cluster_scoped;
  SourceFlags sources;
};

// Removes the files of components that no longer exist, and reports files that rbacgen did not
// write.
absl::Status RemoveOthers(const std::string& folder, const std::set<std::string>& keep) {
  ASSIGN_OR_RETURN(const FolderContent content, ListFolder(folder, kTemplateHeading));
  for (const std::string& name : content.ours) {
    std::error_code error;
    if (!keep.contains(name)) std::filesystem::remove(folder + name, error);
    if (error) {
      return absl::InternalError(StrCat("cannot remove ", folder, name, ": ", error.message()));
    }
  }
  for (const std::string& name : content.foreign) {
    PrintMessage(StrCat(folder, name,
                        " was not written by rbacgen and is not removed; the chart installs it"));
  }
  return absl::OkStatus();
}

absl::Status WriteHelmChart(const std::string& folder, const std::vector<ChartFile>& files,
                            const std::vector<ComponentMandate>& components,
                            const ChartNames& names) {
  std::vector<OutputFile> outputs = GeneratedTemplates(files, components, names);
  std::set<std::string> keep;
  for (const OutputFile& file : outputs) {
    keep.insert(std::filesystem::path(file.path).filename().string());
  }
  if (!ReadWholeFile(folder + "/Chart.yaml").ok()) {
    for (OutputFile& file : NewChartFiles(names)) outputs.push_back(std::move(file));
  }
  for (const OutputFile& file : outputs) RETURN_IF_ERROR(CheckNoLinks(folder, file.path));
  for (const OutputFile& file : outputs) {
    RETURN_IF_ERROR(WriteWholeFile(folder + "/" + file.path, file.text));
  }
  return RemoveOthers(folder + "/" + kGeneratedTemplates, keep);
}

bool Has(const std::vector<std::string>& strings, std::string_view wanted) {
  return std::ranges::find(strings, wanted) != strings.end();
}

// In a chart, values enable the webhooks. Plain manifests have those that --with names: all of them
// by webhooks.enabled, or those of a component by the value of its marker.
IsServed ServedWebhooks(const Flags& flags, const std::vector<ComponentMandate>& components) {
  const std::vector<std::string>& with = flags.settings.with;
  if (flags.format == "helm" || Has(with, "*") || Has(with, kWebhooksValue)) {
    return [](const std::string&) { return true; };
  }
  std::set<std::string> served;
  for (const ComponentMandate& component : components) {
    if (Has(with, component.value)) served.insert(component.name);
  }
  return [served](const std::string& component) { return served.contains(component); };
}

int Run(Flags flags) {
  const bool helm = flags.format == "helm";
  if (helm && flags.out_dir.empty()) {
    std::cerr << "rbacgen: chart needs --out-dir=CHART for Helm, or --format=yaml\n";
    return kExitUnknown;
  }
  Sources sources;
  Diagnostics diagnostics;
  if (const int exit_code = ReadMandateSources(flags.sources, &sources, &diagnostics)) {
    return exit_code;
  }
  flags.settings.fences = !flags.no_fences;
  std::vector<ComponentMandate> components = BuildMandates(sources);
  if (flags.minimal) {
    for (ComponentMandate& component : components) MinimizeGrants(&component);
  }
  const IsServed is_served = ServedWebhooks(flags, components);
  const ChartOptions options = {
      flags.names, flags.settings, {flags.cluster_scoped.begin(), flags.cluster_scoped.end()}};
  auto files = BuildChart(components, options);
  if (files.ok()) {
    if (const int code = AddWebhookSources(flags.sources, sources, options, is_served, &*files)) {
      return code;
    }
  }
  if (!files.ok()) {
    PrintMessage(AsStd(files.status().message()));
    return kExitFound;
  }
  if (!helm) return EmitFrom(flags.sources, flags.out, PlainManifest(*files, options));
  if (const int error = MakeFolder(flags.out_dir)) return error;
  const absl::Status status = WriteHelmChart(flags.out_dir, *files, components, flags.names);
  if (status.ok()) return kExitOk;
  PrintMessage(AsStd(status.message()));
  return kExitUnknown;
}

// Adds the switches that are values in a chart.
void AddSettings(CLI::App* command, ChartSettings* settings, bool* no_fences) {
  const char kGroup[] = "For --format=yaml (in a chart, these are values)";
  const auto add = [&](const char* flag, auto* value, const char* text) {
    return command->add_option(flag, *value, text)->group(kGroup)->capture_default_str();
  };
  const auto add_flag = [&](const char* flag, bool* value, const char* text) {
    command->add_flag(flag, *value, text)->group(kGroup);
  };
  add("--namespace", &settings->ns, "The manager's namespace")->check(IsNamespace());
  add("--controllers", &settings->controllers,
      "As the manager's flag --controllers: '*' enables all, 'foo' enables foo, '-foo' disables "
      "foo")
      ->delimiter(',')
      ->allow_extra_args(false);
  add("--with", &settings->with,
      "Components to include that run no controllers, selected by the value= of their marker; '*' "
      "includes all (default: none). webhooks.enabled also adds the webhook configurations; the "
      "API server then denies the writes that they cover unless a manager serves the webhooks")
      ->delimiter(',')
      ->allow_extra_args(false);
  add("--cut-off", &settings->cut_off,
      "Components to cut off: they stay enabled, but have no ServiceAccount, roles and tokens")
      ->delimiter(',')
      ->allow_extra_args(false);
  add("--watch-namespaces", &settings->watch_namespaces,
      "As the manager's flag --watch-namespaces: bind the components' ClusterRoles in these "
      "namespaces instead of the cluster (default: the cluster)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(IsNamespace());
  add("--identity-mode", &settings->identity_mode,
      "As the manager's flag --identity-mode: token, impersonate, single")
      ->check(CLI::IsMember({"token", "impersonate", "single"}));
  add("--impersonation", &settings->impersonation,
      "The impersonation that base is granted in mode impersonate: constrained (Kubernetes 1.36 "
      "and later), classic")
      ->check(CLI::IsMember({"constrained", "classic"}));
  add("--external", &settings->external,
      "The object for granted=external rules: role (an administrator binds it), scopetemplate (a "
      "ScopeInstance refers to it)")
      ->check(CLI::IsMember({"role", "scopetemplate"}));
  add_flag("--create-service-accounts", &settings->create_service_accounts,
           "Let the manager create missing ServiceAccounts");
  add_flag("--kill-switch", &settings->kill_switch,
           "Add a Secret for each component, to which its tokens are bound");
  add_flag("--flow-schemas", &settings->flow_schemas,
           "Add a separate priority level for the manager's requests");
  add_flag("--audit-policy", &settings->audit_policy,
           "Add a ConfigMap with the output of `rbacgen audit-policy`");
  add("--api-audiences", &settings->api_audiences,
      "Audiences that base may request tokens for: the API server's (its flag --api-audiences)")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(IsAudience());
  add_flag("--no-fences", no_fences, "Omit the ValidatingAdmissionPolicies");
}

}  // namespace

void AddChartCommand(CLI::App& app, int* exit_code) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = app.add_subcommand(
      "chart", "Write the ServiceAccounts, roles, bindings and fences of components");
  command->add_option("--format", flags->format, "helm: a part of a chart; yaml: plain manifests")
      ->check(CLI::IsMember({"helm", "yaml"}))
      ->capture_default_str();
  command->add_option("--out-dir", flags->out_dir,
                      "helm: the chart's folder; its templates/generated is written, and a folder "
                      "without Chart.yaml becomes a complete chart");
  command->add_option("--out", flags->out, "yaml: write to this file instead of standard output");
  command
      ->add_option("--base-name", flags->names.base,
                   "The name of the manager's ServiceAccount and Lease; a component's "
                   "ServiceAccount is NAME-component")
      ->check(IsBaseName())
      ->capture_default_str();
  command
      ->add_option("--part-of", flags->names.part_of,
                   "The value of the label app.kubernetes.io/part-of, and the name of a new chart; "
                   "by default the base name, without the suffix -manager")
      ->check(IsNamespace());
  command->add_flag("--minimal", flags->minimal,
                    "Omit rules that other rules already cover, and merge rules");
  command
      ->add_option("--cluster-scoped", flags->cluster_scoped,
                   "Cluster-scoped resources of CRDs, such as clusterissuers.cert-manager.io: a "
                   "manager that watches only some namespaces needs its permissions on these in "
                   "the cluster. Those of Kubernetes are known")
      ->delimiter(',')
      ->allow_extra_args(false);
  AddSettings(command, &flags->settings, &flags->no_fences);
  AddMandateSourceFlags(command, &flags->sources);
  command->footer(
      "Examples: rbacgen chart --out-dir=charts/mandate controllers webhooks\n"
      "          rbacgen chart --format=yaml --namespace=mandate-system controllers | "
      "kubectl apply -f -\n"
      "Apply plain manifests in one namespace only. The names of their cluster-scoped objects do\n"
      "not contain the namespace: applied for another, they overwrite those of the first. A\n"
      "second manager needs its own names (--base-name). Helm rejects a second release.");
  command->callback([flags, exit_code] { *exit_code = Run(*flags); });
}

}  // namespace mandate::rbacgen
