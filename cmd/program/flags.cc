#include "cmd/program/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "cmd/program/certificate_flags.h"
#include "cmd/program/cluster_flags.h"
#include "cmd/program/tracing_flags.h"
#include "manager/base_name.h"
#include "manager/cache/namespaced_view.h"
#include "manager/core/closest_name.h"
#include "manager/core/command_line.h"
#include "manager/core/help_formatter.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/debug_server.h"
#include "manager/object/quantity.h"
#include "manager/serving/listener.h"
#include "manager/telemetry/mandates.h"

namespace mandate {
namespace {

std::string Name(const ComponentSpec& component) {
  return std::string(component.mandate->component);
}

// --metrics-secure enables kMetricsAuth, which authorizes readers of /metrics, and
// --webhook-bind-address enables components with webhooks. --controllers does not.
bool IsController(const ComponentSpec& component) {
  return component.mandate != &kMetricsAuth && !component.make_webhooks;
}

// Whether the component makes the certificates that --webhook-cert-path would name.
bool MakesCertificates(const ComponentSpec& component) {
  return component.mandate->component == certificates::kComponent;
}

// The values of flags before they are parsed.
struct CommandLine {
  ClusterFlags clusters;
  std::string ns;
  std::vector<std::string> controllers = {"*"};
  std::string identity_mode = "token";
  std::string guard = "enforce";
  std::string token_check_period = "10s";
  std::string exec_plugin_timeout = "30s";
  std::string max_watch_size;
  WebhookFlags webhooks;
  std::string log_format = "text";
  int verbosity = 0;
  bool allow_core_dumps = false;
};

void DeclareServers(CLI::App& app, ManagerOptions& options) {
  app.add_option("--health-probe-bind-address,--health-address", options.health_address,
                 "Address of /healthz and /readyz, which need no authentication; 0 disables them.")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--grpc-health-address", options.grpc_health_address,
                 "Address of the gRPC health service (grpc.health.v1); 0 disables it.")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--metrics-bind-address,--metrics-address", options.metrics_address,
                 "Address of /metrics; 0 disables it. An address other than loopback requires "
                 "--metrics-secure.")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_flag("--metrics-secure", options.metrics_secure,
               "Serve /metrics over HTTPS, to clients that Kubernetes authorizes to `get` it.");
  app.add_option("--debug-bind-address", options.debug_address,
                 "Loopback address of /debug/queues and /debug/watches, the state of work queues "
                 "and watches; 0 disables them.")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  DeclareCertificate(app, "metrics", options.metrics_certificate,
                     "Folder of the serving certificate of /metrics, reloaded when it changes. "
                     "Default: a self-signed certificate.");
}

void DeclareIdentities(CLI::App& app, CommandLine& line, ManagerOptions& options) {
  app.add_option(
         "--identity-mode", line.identity_mode,
         "How components authenticate: token (each with a token of its own ServiceAccount), "
         "impersonate (base impersonates the component; base then has the permissions of all "
         "components), single (all as base, for clusters without RBAC).")
      ->type_name("MODE")
      ->capture_default_str();
  app.add_flag("--create-service-accounts", options.create_service_accounts,
               "Let base create missing ServiceAccounts. The chart grants this only with "
               "createServiceAccounts.");
  app.add_flag("--bind-tokens-to-secrets", options.bind_tokens_to_secrets,
               "Bind each component's tokens to the Secret that is named as its ServiceAccount. "
               "Deleting the Secret ends the component's tokens.");
  app.add_option(
         "--token-check-period", line.token_check_period,
         "How often a token that is bound to a Secret is checked, so that an idle component "
         "notices that its token has ended.")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option(
         "--token-audiences", options.token_audiences,
         "Audiences of the components' tokens. The list must contain one of the API server's own "
         "audiences. Default: the API server.")
      ->delimiter(',')
      ->type_name("LIST");
}

void Declare(CLI::App& app, CommandLine& line, ManagerOptions& options, const std::string& names) {
  DeclareClusters(app, line.clusters);
  app.add_option("--credential-plugin-timeout", line.exec_plugin_timeout,
                 "Timeout of the kubeconfig's exec plugin.")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--namespace,-n", line.ns,
                 "Namespace of the manager's ServiceAccounts and Lease. Default: the namespace of "
                 "the kubeconfig's context, or of the pod.")
      ->type_name("NAME");
  app.add_option(
         "--controllers", line.controllers,
         StrCat("Controllers to run: '*' enables all that are on by default, 'foo' enables foo, "
                "'-foo' disables foo. Known: ",
                names, "."))
      ->delimiter(',')
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--watch-namespaces", options.watch_namespaces,
                 "Namespaces whose objects the components read. Default: all. Kinds without "
                 "namespaces are read as before, and so is a namespace that a component names.")
      ->delimiter(',')
      ->type_name("LIST");
  app.add_flag("--leader-elect,!--no-leader-elect", options.leader_elect,
               "Run controllers only while holding the manager's Lease. On by default; "
               "--leader-elect=false disables leader election.");
  DeclareServers(app, options);
  DeclareTracing(app, options.tracing);
  DeclareWebhooks(app, line.webhooks, options);
  DeclareIdentities(app, line, options);
  app.add_option(
         "--guard-mode,--guard", line.guard,
         "What happens to a request that no marker declares: enforce (rejected before it is "
         "sent), warn (logged), off (sent).")
      ->type_name("MODE")
      ->capture_default_str();
  app.add_option(
         "--max-watch-size", line.max_watch_size,
         "Maximum total size of the stored objects in all watches. Half of it is divided "
         "equally among the components; any component may use the other half. Reads of a "
         "kind that exceeds the limit fail; other kinds are not affected. Default: a quarter "
         "of the container's memory limit, or 1Gi without a limit.")
      ->type_name("QUANTITY");
  app.add_option("--log-format", line.log_format, "Format of the log: text or json.")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_option("-v,--v", line.verbosity, "Verbosity of the log, 0 to 5.")
      ->check(CLI::Range(0, 5))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--allow-core-dumps", line.allow_core_dumps,
               "Allow core dumps and debuggers. A core dump contains all tokens.");
}

absl::Status Usage(std::string_view what) { return absl::InvalidArgumentError(AsAbsl(what)); }

// True also for "0", which disables the server.
absl::StatusOr<bool> IsLoopback(const std::string& flag, const std::string& address) {
  if (address == "0") return true;
  const auto endpoint = ParseListenAddress(address);
  if (!endpoint.ok()) return Usage(StrCat(flag, ": ", AsStd(endpoint.status().message())));
  return endpoint->address().is_loopback();
}

absl::Status CheckServers(const ManagerOptions& options) {
  RETURN_IF_ERROR(IsLoopback("--health-probe-bind-address", options.health_address).status());
  ASSIGN_OR_RETURN(const bool loopback,
                   IsLoopback("--metrics-bind-address", options.metrics_address));
  if (options.metrics_secure && options.metrics_address == options.health_address) {
    return Usage(StrCat("--metrics-secure: metrics must have an address of their own; ",
                        options.metrics_address,
                        " serves probes without authentication; change --metrics-bind-address"));
  }
  if (!options.metrics_secure && !loopback) {
    return Usage(StrCat("--metrics-bind-address: ", options.metrics_address,
                        " would serve metrics without authentication; add --metrics-secure, or "
                        "bind 127.0.0.1"));
  }
  if (!options.metrics_secure && !options.metrics_certificate.dir.empty()) {
    return Usage("--metrics-cert-path: the certificate is used only with --metrics-secure; add it");
  }
  RETURN_IF_ERROR(IsLoopback("--webhook-bind-address", options.webhook_address).status());
  if (options.debug_address != "0") {
    const absl::Status loopback_only = CheckDebugAddress(options.debug_address);
    if (!loopback_only.ok()) {
      return Usage(StrCat("--debug-bind-address: ", AsStd(loopback_only.message())));
    }
  }
  return absl::OkStatus();
}

// Accepts 1s to 1h.
absl::StatusOr<absl::Duration> ParseDuration(std::string_view flag, const std::string& text,
                                             std::string_view example) {
  absl::Duration duration;
  if (absl::ParseDuration(text, &duration) && duration >= absl::Seconds(1) &&
      duration <= absl::Hours(1)) {
    return duration;
  }
  return Usage(
      StrCat(flag, " must be a duration between 1s and 1h, got \"", text, "\"; use ", example));
}

// Accepts 1Mi to 1Ei.
absl::StatusOr<size_t> ParseBytes(std::string_view flag, const std::string& text) {
  constexpr int64_t kNanos = 1'000'000'000;
  const auto quantity = Quantity::Parse(text);
  constexpr int64_t kMost = int64_t{1} << 60;
  if (!quantity.ok() || quantity->nanos() < absl::int128(1 << 20) * kNanos ||
      quantity->nanos() > absl::int128(kMost) * kNanos) {
    return Usage(
        StrCat(flag, " must be a quantity between 1Mi and 1Ei, got \"", text, "\"; use 1Gi"));
  }
  return static_cast<size_t>(quantity->nanos() / kNanos);
}

absl::Status ResolveIdentities(const CommandLine& line, ManagerOptions& options) {
  auto mode = ParseIdentityMode(line.identity_mode);
  if (!mode.ok()) return Usage(StrCat("--identity-mode: ", AsStd(mode.status().message())));
  options.identity_mode = *mode;
  ASSIGN_OR_RETURN(options.token_check_period,
                   ParseDuration("--token-check-period", line.token_check_period, "10s"));
  if (options.identity_mode == IdentityMode::kToken) return absl::OkStatus();
  const std::string why = StrCat("in mode ", line.identity_mode,
                                 " components have no tokens; remove the flag, or use "
                                 "--identity-mode=token");
  if (options.bind_tokens_to_secrets) return Usage(StrCat("--bind-tokens-to-secrets: ", why));
  if (!options.token_audiences.empty()) return Usage(StrCat("--token-audiences: ", why));
  return absl::OkStatus();
}

absl::StatusOr<Flags> Resolve(const Program& program, const CommandLine& line,
                              ManagerOptions options, std::vector<ComponentSpec> all,
                              certificates::Settings& certificates) {
  Flags flags;
  flags.allow_core_dumps = line.allow_core_dumps;
  std::vector<std::string> known;
  for (const ComponentSpec& component : all) {
    if (IsController(component)) known.push_back(Name(component));
  }
  for (const std::string& pattern : line.controllers) {
    const std::string name = pattern.substr(pattern.starts_with('-') ? 1 : 0);
    if (std::ranges::any_of(
            all, [&](const ComponentSpec& c) { return Name(c) == name && !IsController(c); })) {
      return Usage(
          StrCat("--controllers: ", name, " is not a controller; ",
                 name == kMetricsAuth.component ? "--metrics-secure" : "--webhook-bind-address",
                 " enables or disables it"));
    }
  }
  auto selected = SelectControllers(line.controllers, known);
  if (!selected.ok()) return Usage(StrCat("--controllers: ", AsStd(selected.status().message())));
  const bool serves = options.webhook_address != "0";
  for (ComponentSpec& component : all) {
    const bool enabled = MakesCertificates(component) ? serves && line.webhooks.files.dir.empty()
                         : component.make_webhooks    ? serves
                         : IsController(component) ? std::find(selected->begin(), selected->end(),
                                                               Name(component)) != selected->end()
                                                   : options.metrics_secure;
    if (enabled) flags.components.push_back(std::move(component));
  }
  RETURN_IF_ERROR(ResolveIdentities(line, options));
  RETURN_IF_ERROR(CheckServers(options));
  RETURN_IF_ERROR(CheckTracing(options.tracing));
  const absl::Status namespaces = CheckWatchedNamespaces(options.watch_namespaces);
  if (!namespaces.ok()) return Usage(StrCat("--watch-namespaces: ", AsStd(namespaces.message())));
  auto guard = ParseGuardMode(line.guard);
  if (!guard.ok()) return Usage(StrCat("--guard-mode: ", AsStd(guard.status().message())));
  options.guard = *guard;
  if (!line.max_watch_size.empty()) {
    ASSIGN_OR_RETURN(options.max_watch_bytes, ParseBytes("--max-watch-size", line.max_watch_size));
  }
  ASSIGN_OR_RETURN(options.exec_plugin_timeout,
                   ParseDuration("--credential-plugin-timeout", line.exec_plugin_timeout, "30s"));
  RETURN_IF_ERROR(ResolveClusters(line.clusters, flags.components, options));
  options.ns = !line.ns.empty() ? line.ns : options.cluster.ns;
  if (options.ns.empty())
    return Usage("--namespace: required, because the kubeconfig's context has no namespace");
  options.version = program.version;
  options.tracing.service_name = program.name;
  options.base_mandate = program.base_mandate;
  options.log =
      Logger(StderrLogSink(line.log_format == "json" ? LogFormat::kJson : LogFormat::kText,
                           line.verbosity),
             Clock::Real());
  const absl::Status resolved =
      ResolveCertificate(line.webhooks, flags.components, options, certificates);
  if (!resolved.ok()) return Usage(AsStd(resolved.message()));
  flags.manager = std::move(options);
  return flags;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SelectControllers(const std::vector<std::string>& patterns,
                                                           const std::vector<std::string>& known) {
  std::set<std::string> on;
  std::set<std::string> off;
  bool all = false;
  for (const std::string& pattern : patterns) {
    if (pattern == "*") {
      all = true;
      continue;
    }
    const bool negative = pattern.starts_with('-');
    const std::string name = negative ? pattern.substr(1) : pattern;
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return absl::InvalidArgumentError(StrCat("unknown controller \"", name,
                                               "\"; known: ", absl::StrJoin(known, ", "),
                                               DidYouMean(name, known)));
    }
    (negative ? off : on).insert(name);
  }
  std::vector<std::string> selected;
  for (const std::string& name : known) {
    if (on.contains(name) || (all && !off.contains(name))) selected.push_back(name);
  }
  if (selected.empty()) return absl::InvalidArgumentError("no controller is enabled");
  return selected;
}

absl::StatusOr<Flags> ParseFlags(const Program& program, int argc, char** argv) {
  const auto usage = [&](std::string_view what) {
    return Usage(StrCat(what, " (see ", program.name, " --help)"));
  };
  CLI::App app(program.description, program.name);
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_version_flag("--version", StrCat(program.name, " ", program.version));
  const auto certificates = std::make_shared<certificates::Settings>();
  std::vector<ComponentSpec> all = program.components(certificates);
  CommandLine line;
  line.webhooks.base = BaseName(*program.base_mandate);
  line.webhooks.service = line.webhooks.base + "-webhook";
  ManagerOptions options;
  std::vector<std::string> names;
  for (const ComponentSpec& component : all) {
    if (IsController(component)) names.push_back(Name(component));
  }
  Declare(app, line, options, absl::StrJoin(names, ", "));
  if (program.add_flags) program.add_flags(app);
  // Kubernetes programs take -v=1; CLI11 takes -v 1, -v1 and --v=1.
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  for (std::string& argument : arguments) {
    if (argument.starts_with("-v=")) argument.insert(0, "-");
  }
  if (const auto mistake = FlagWithoutValue(arguments)) return usage(*mistake);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 reads them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return usage(ParseErrorText(app, error));
    app.exit(error);  // prints the help or the version
    Flags flags;
    flags.exit_now = true;
    return flags;
  }
  absl::StatusOr<Flags> flags =
      Resolve(program, line, std::move(options), std::move(all), *certificates);
  if (!flags.ok()) return usage(AsStd(flags.status().message()));
  return flags;
}

}  // namespace mandate
