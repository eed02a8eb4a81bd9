#include "rbacgen/cli/project.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "rbacgen/cli/command.h"
#include "rbacgen/cli/output_paths.h"
#include "rbacgen/cli/read_webhooks.h"
#include "rbacgen/emit/chart/audit_policy.h"
#include "rbacgen/emit/chart/helm_chart.h"
#include "rbacgen/emit/crd/definition.h"
#include "rbacgen/emit/crd/proto_files.h"
#include "rbacgen/emit/header_writer.h"
#include "rbacgen/emit/roles.h"
#include "rbacgen/emit/webhook/certificate_names.h"
#include "rbacgen/emit/webhook/chart_webhooks.h"
#include "rbacgen/emit/webhook/configurations.h"
#include "rbacgen/lint/lint.h"
#include "rbacgen/markers/mandates.h"
#include "rbacgen/markers/minimal_rules.h"
#include "rbacgen/markers/reading.h"
#include "rbacgen/markers/source_files.h"

namespace mandate::rbacgen {
namespace {

namespace fs = std::filesystem;

constexpr char kForeignTemplate[] =
    "the chart installs this file, but rbacgen did not write it, and leaves it as it is; move it "
    "to "
    "templates/, or remove it";

bool IsSkipped(const std::string& file, const std::vector<std::string>& skip) {
  return std::ranges::any_of(skip, [&](const std::string& path) {
    std::string prefix = fs::path(path).lexically_normal().string();
    if (file == prefix) return true;
    if (!prefix.ends_with('/')) prefix += '/';
    return file.starts_with(prefix);
  });
}

bool HasComponent(const std::string& file) {
  Sources sources;
  Diagnostics diagnostics;
  ReadFiles({file}, ComponentFrom::kMarker, Severity::kWarning, &sources, &diagnostics);
  return !sources.components.empty() || diagnostics.unreadable();
}

// Adds all files below the sources to `inputs`, also the skipped ones.
absl::StatusOr<std::vector<std::string>> SourceFiles(const Config& config, InputFiles* inputs) {
  std::vector<std::string> all;
  for (const SourcePath& source : config.sources) {
    ASSIGN_OR_RETURN(const auto files, FindSourceFiles(std::vector<std::string>{source.path}));
    for (const std::string& file : files) {
      inputs->Add(file, "a source");
      if (IsSkipped(file, config.skip)) continue;
      if (!source.needs_component || HasComponent(file)) all.push_back(file);
    }
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

absl::StatusOr<std::vector<std::string>> ProtoSources(const CrdOutput& crd) {
  std::vector<std::string> all;
  for (const std::string& path : crd.files) {
    std::error_code error;
    if (!fs::exists(path, error)) {
      return absl::NotFoundError(StrCat("no such file or folder: ", path));
    }
    if (!fs::is_directory(path, error)) {
      all.push_back(fs::path(path).lexically_normal().string());
      continue;
    }
    for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
         it.increment(error)) {
      if (it->path().extension() == ".proto" && it->is_regular_file(error)) {
        all.push_back(it->path().lexically_normal().string());
      }
    }
    if (error) {
      return absl::UnavailableError(StrCat("cannot read the folder ", path, ": ", error.message()));
    }
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  return all;
}

// Makes the outputs of one configuration. Not thread-safe.
class Maker {
 public:
  explicit Maker(const Config& config) : config_(config) {}

  absl::StatusOr<Project> Make() {
    if (!config_.file.empty()) inputs_.Add(config_.file, "the configuration");
    ASSIGN_OR_RETURN(flags_.paths, SourceFiles(config_, &inputs_));
    RETURN_IF_ERROR(CheckConfiguredOutputs());
    flags_.component_from = config_.component_from;
    ReadMarkers();
    ReadAllWebhooks();
    if (config_.crd) RETURN_IF_ERROR(AddCrds());
    if (!HasErrors()) AddMarkerOutputs();
    RETURN_IF_ERROR(CheckFiles());
    RETURN_IF_ERROR(FindStale());
    std::ranges::sort(project_.files, {}, &OutputFile::path);
    std::ranges::sort(project_.stale);
    std::ranges::stable_sort(project_.findings, {}, &SourceFinding::rule);
    return std::move(project_);
  }

 private:
  // Also an output that is not made, because its sources have mistakes, must have a valid path.
  absl::Status CheckConfiguredOutputs() const {
    if (config_.chart) {
      RETURN_IF_ERROR(CheckOutputPath(config_.chart->dir, OutputKind::kFolder));
      RETURN_IF_ERROR(
          CheckOutputPath(config_.chart->dir + "/" + kGeneratedTemplates, OutputKind::kFolder));
    }
    if (config_.crd) RETURN_IF_ERROR(CheckOutputPath(config_.crd->dir, OutputKind::kFolder));
    if (config_.header) RETURN_IF_ERROR(CheckFile(config_.header->out));
    if (config_.roles) RETURN_IF_ERROR(CheckFile(config_.roles->out));
    if (config_.webhook) RETURN_IF_ERROR(CheckFile(config_.webhook->out));
    if (config_.audit_policy) RETURN_IF_ERROR(CheckFile(config_.audit_policy->out));
    return absl::OkStatus();
  }

  absl::Status CheckFile(const std::string& path) const {
    RETURN_IF_ERROR(CheckOutputPath(path, OutputKind::kFile));
    return inputs_.Check(path);
  }

  absl::Status CheckFiles() const {
    for (const OutputFile& file : project_.files) RETURN_IF_ERROR(CheckFile(file.path));
    return CheckDistinct(project_.files);
  }

  bool NeedsMandates() const { return config_.chart || config_.header || config_.audit_policy; }
  // controller-gen ignores some mistakes. If rbacgen only replaces it, with roles and webhooks,
  // they are warnings.
  Severity MistakeSeverity() const {
    return !NeedsMandates() && (config_.roles || config_.webhook) ? Severity::kWarning
                                                                  : Severity::kError;
  }
  bool HasErrors() const { return errors_of_markers_ > 0; }

  void Add(const Diagnostics& diagnostics, std::string_view rule) {
    errors_of_markers_ += diagnostics.errors();
    project_.unreadable |= diagnostics.unreadable();
    AddFindings(diagnostics, rule, &project_.findings);
  }

  void Fail(const std::string& path, std::string_view message) {
    Diagnostics diagnostics;
    diagnostics.Error({path}, std::string(message));
    Add(diagnostics, "output");
  }

  void ReadMarkers() {
    Diagnostics markers, rules, mandates;
    ReadFiles(flags_.paths, config_.component_from, MistakeSeverity(), &sources_, &markers);
    Add(markers, "marker");
    LintAll(sources_, MistakeSeverity(), &rules);
    Add(rules, "rbac-rule");
    if (!NeedsMandates() && sources_.components.empty()) return;
    CheckMandates(sources_, config_.warn_unjustified ? Severity::kWarning : Severity::kError,
                  &mandates);
    Add(mandates, "mandate");
  }

  void ReadAllWebhooks() {
    Diagnostics diagnostics;
    // The paths are files that were found before, so they exist.
    ReadWebhookSources(flags_, MistakeSeverity(), &webhooks_, &diagnostics);
    if (config_.chart) {
      CheckValuesOfWebhooks(webhooks_, sources_, &diagnostics);
      CheckCertificateNames(webhooks_, sources_, config_.base_name, &diagnostics);
    }
    Add(diagnostics, "webhook");
  }

  void AddMarkerOutputs() {
    if (NeedsMandates() && sources_.components.empty()) {
      Fail("rbacgen.yaml",
           "the sources have no +mandate:component marker; write // +mandate:component:name=NAME "
           "above the rules of a component");
      return;
    }
    std::vector<ComponentMandate> mandates = BuildMandates(sources_);
    NoteWebhooks(webhooks_, &mandates);
    if (config_.chart) AddChart(mandates);
    if (config_.header) AddHeader(mandates);
    if (config_.roles) AddRoles();
    if (config_.webhook) AddWebhookOutput();
    if (config_.audit_policy) AddAuditPolicy(mandates);
  }

  void AddChart(std::vector<ComponentMandate> components) {
    if (config_.chart->minimal) {
      for (ComponentMandate& component : components) MinimizeGrants(&component);
    }
    ChartOptions options;
    options.names.base = config_.base_name;
    options.names.part_of = config_.part_of;
    if (!config_.ns.empty()) options.settings.ns = config_.ns;
    options.cluster_scoped = cluster_scoped_;
    options.cluster_scoped.insert(config_.chart->cluster_scoped.begin(),
                                  config_.chart->cluster_scoped.end());
    const std::string folder = config_.chart->dir + "/";
    auto files = BuildChart(components, options);
    if (!files.ok()) return Fail(folder, AsStd(files.status().message()));
    Webhooks webhooks = webhooks_;
    if (config_.component_from != ComponentFrom::kMarker) {
      std::erase_if(webhooks.webhooks, [](const Webhook& w) { return w.component.empty(); });
    }
    Diagnostics diagnostics;
    if (!webhooks.webhooks.empty()) AddWebhooks(webhooks, options, &*files, &diagnostics);
    Add(diagnostics, "webhook");
    if (diagnostics.errors() > 0) return;
    std::error_code error;
    if (!fs::exists(folder + "Chart.yaml", error)) {
      for (OutputFile& file : NewChartFiles(options.names)) {
        project_.files.push_back({folder + file.path, std::move(file.text)});
      }
    }
    for (OutputFile& file : GeneratedTemplates(*files, components, options.names)) {
      project_.files.push_back({folder + file.path, std::move(file.text)});
    }
  }

  void AddHeader(std::vector<ComponentMandate> mandates) {
    const HeaderOutput& header = *config_.header;
    if (header.base != "none") {
      ComponentMandate base = BuildBaseMandate(mandates, config_.base_name, config_.ns);
      if (header.base == "only") mandates.clear();
      mandates.insert(mandates.begin(), std::move(base));
    }
    auto text = WriteHeader(mandates);
    if (!text.ok()) return Fail(header.out, AsStd(text.status().message()));
    project_.files.push_back({header.out, *std::move(text)});
  }

  void AddRoles() {
    std::vector<Declaration> declarations = sources_.declarations;
    std::erase_if(declarations, [](const Declaration& d) { return d.ours; });
    if (config_.component_from != ComponentFrom::kMarker) {
      NameRolesByComponent(config_.roles->role_name, &declarations);
    }
    std::vector<RoleContent> roles = GroupByRole(declarations, config_.roles->role_name);
    if (config_.roles->minimal) {
      for (RoleContent& role : roles) role.rules = MinimalRules(role.rules);
    }
    project_.files.push_back({config_.roles->out, RoleDocuments(roles)});
  }

  void AddWebhookOutput() {
    ConfigurationOptions options;
    const WebhookOutput& webhook = *config_.webhook;
    if (!webhook.service_name.empty()) options.service_name = webhook.service_name;
    if (!webhook.service_namespace.empty()) options.service_namespace = webhook.service_namespace;
    project_.files.push_back({webhook.out, WriteDocuments(WebhookConfigurations(webhooks_, options),
                                                          Yaml::Flavor::kPlain)});
  }

  void AddAuditPolicy(const std::vector<ComponentMandate>& mandates) {
    ChartSettings settings;
    if (!config_.ns.empty()) settings.ns = config_.ns;
    project_.files.push_back(
        {config_.audit_policy->out,
         AuditPolicyText(mandates, config_.base_name, ChartSwitches(std::move(settings)),
                         config_.audit_policy->bodies)});
  }

  absl::Status AddCrds() {
    ASSIGN_OR_RETURN(const auto paths, ProtoSources(*config_.crd));
    for (const std::string& path : paths) inputs_.Add(path, "a source");
    Diagnostics diagnostics;
    ProtoFiles protos(config_.crd->proto_path, &diagnostics);
    std::vector<const google::protobuf::FileDescriptor*> sources;
    for (const std::string& path : paths) {
      if (const auto* source = protos.Load(path)) sources.push_back(source);
    }
    YamlOptions options;
    if (config_.crd->max_description) options.max_description = *config_.crd->max_description;
    if (!config_.ns.empty()) options.service_namespace = config_.ns;
    const auto definitions = MakeDefinitions(sources, protos, options, &diagnostics);
    AddFindings(diagnostics, "crd", &project_.findings);
    project_.unreadable |= diagnostics.unreadable();
    if (diagnostics.errors() > 0) return absl::OkStatus();
    for (const Definition& definition : definitions) {
      project_.files.push_back({config_.crd->dir + "/" + definition.file, definition.text});
      if (definition.cluster_scoped) cluster_scoped_.insert(definition.name);
    }
    crds_made_ = true;
    return absl::OkStatus();
  }

  // Finds stale files that rbacgen wrote: templates of a chart, and CRDs. Warns of other files in
  // the folder of generated templates, because the chart installs them.
  absl::Status FindStale() {
    if (config_.chart && !HasErrors()) {
      const std::string folder = config_.chart->dir + "/" + kGeneratedTemplates;
      ASSIGN_OR_RETURN(const auto foreign, FindStaleIn(folder, kTemplateHeading));
      Diagnostics diagnostics;
      for (const std::string& path : foreign) diagnostics.Warning({path}, kForeignTemplate);
      Add(diagnostics, "output");
    }
    if (!crds_made_) return absl::OkStatus();
    return FindStaleIn(config_.crd->dir, "# Generated by rbacgen ").status();
  }

  // Returns the paths of the files that rbacgen did not write.
  absl::StatusOr<std::vector<std::string>> FindStaleIn(const std::string& folder,
                                                       std::string_view heading) {
    std::set<fs::path> made;
    for (const OutputFile& file : project_.files) {
      made.insert(fs::path(file.path).lexically_normal());
    }
    ASSIGN_OR_RETURN(const FolderContent content, ListFolder(folder, heading));
    std::vector<std::string> foreign;
    const auto add = [&](const std::vector<std::string>& names, std::vector<std::string>* paths) {
      for (const std::string& name : names) {
        const fs::path path = (fs::path(folder) / name).lexically_normal();
        if (!made.contains(path)) paths->push_back(path.string());
      }
    };
    add(content.ours, &project_.stale);
    add(content.foreign, &foreign);
    return foreign;
  }

  const Config& config_;
  InputFiles inputs_;
  SourceFlags flags_;
  Sources sources_;
  Webhooks webhooks_;
  Project project_;
  std::set<std::string> cluster_scoped_;  // CRDs: "widgets.example.com"
  int errors_of_markers_ = 0;
  bool crds_made_ = false;
};

}  // namespace

absl::StatusOr<Project> MakeProject(const Config& config) { return Maker(config).Make(); }

}  // namespace mandate::rbacgen
