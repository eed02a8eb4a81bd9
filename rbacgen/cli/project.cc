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
#include "rbacgen/cli/read_webhooks.h"
#include "rbacgen/emit/chart/audit_policy.h"
#include "rbacgen/emit/chart/helm_chart.h"
#include "rbacgen/emit/crd/definition.h"
#include "rbacgen/emit/crd/proto_files.h"
#include "rbacgen/emit/header_writer.h"
#include "rbacgen/emit/roles.h"
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

absl::StatusOr<std::vector<std::string>> SourceFiles(const Config& config) {
  std::vector<std::string> all;
  for (const SourcePath& source : config.sources) {
    ASSIGN_OR_RETURN(const auto files, FindSourceFiles(std::vector<std::string>{source.path}));
    for (const std::string& file : files) {
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
    ASSIGN_OR_RETURN(flags_.paths, SourceFiles(config_));
    flags_.component_from = config_.component_from;
    ReadMarkers();
    ReadAllWebhooks();
    if (config_.crd) RETURN_IF_ERROR(AddCrds());
    if (!HasErrors()) AddMarkerOutputs();
    RETURN_IF_ERROR(FindStale());
    std::ranges::sort(project_.files, {}, &OutputFile::path);
    std::ranges::sort(project_.stale);
    std::ranges::stable_sort(project_.findings, {}, &SourceFinding::rule);
    return std::move(project_);
  }

 private:
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
    auto text = WriteHeader(mandates, header.include_as.empty() ? header.out : header.include_as);
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
    Diagnostics diagnostics;
    ProtoFiles protos(config_.crd->proto_path, &diagnostics);
    std::vector<const google::protobuf::FileDescriptor*> sources;
    for (const std::string& path : paths) {
      if (const auto* source = protos.Load(path)) sources.push_back(source);
    }
    YamlOptions options;
    if (config_.crd->max_description) options.max_description = *config_.crd->max_description;
    const auto definitions = MakeDefinitions(sources, protos, options, &diagnostics);
    AddFindings(diagnostics, "crd", &project_.findings);
    project_.unreadable |= diagnostics.unreadable();
    if (diagnostics.errors() > 0) return absl::OkStatus();
    for (const Definition& definition : definitions) {
      project_.files.push_back({config_.crd->dir + "/" + definition.file, definition.text});
    }
    crds_made_ = true;
    return absl::OkStatus();
  }

  // Finds stale files: in the folder of a chart's generated templates all other files, and in the
  // folder of CRDs other files that rbacgen wrote.
  absl::Status FindStale() {
    if (config_.chart && !HasErrors()) {
      RETURN_IF_ERROR(FindStaleIn(config_.chart->dir + "/" + kGeneratedTemplates, ""));
    }
    if (crds_made_) RETURN_IF_ERROR(FindStaleIn(config_.crd->dir, "# Generated by rbacgen "));
    return absl::OkStatus();
  }

  absl::Status FindStaleIn(const std::string& folder, std::string_view heading) {
    std::set<fs::path> made;
    for (const OutputFile& file : project_.files) {
      made.insert(fs::path(file.path).lexically_normal());
    }
    std::error_code error;
    if (!fs::exists(folder, error)) return absl::OkStatus();
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      const fs::path path = it->path().lexically_normal();
      if (!it->is_regular_file(error) || made.contains(path)) continue;
      const auto text = ReadWholeFile(path.string());
      if (text.ok() && text->starts_with(heading)) project_.stale.push_back(path.string());
    }
    if (!error) return absl::OkStatus();
    return absl::UnavailableError(StrCat("cannot read the folder ", folder, ": ", error.message()));
  }

  const Config& config_;
  SourceFlags flags_;
  Sources sources_;
  Webhooks webhooks_;
  Project project_;
  int errors_of_markers_ = 0;
  bool crds_made_ = false;
};

}  // namespace

absl::StatusOr<Project> MakeProject(const Config& config) { return Maker(config).Make(); }

}  // namespace mandate::rbacgen
