#include "cmd/mandate-manager/flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <set>

#include "absl/strings/str_join.h"
#include "cmd/mandate-manager/base_mandate.h"
#include "cmd/mandate-manager/version.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/kubeconfig/kubeconfig.h"
#include "manager/object/quantity.h"
#include "manager/serving/listen_address.h"
#include "manager/telemetry/mandates.h"

namespace mandate {
namespace {

std::string Name(const ComponentSpec& component) {
  return std::string(component.mandate->component);
}

// Who may read the metrics is decided by a component that is there when they are secure.
bool IsController(const ComponentSpec& component) { return component.mandate != &kMetricsAuth; }

// What the command line says, before it is known to make sense.
struct Raw {
  std::string kubeconfig;
  std::string ns;
  std::vector<std::string> controllers = {"*"};
  std::string identity_mode = "token";
  std::string guard = "enforce";
  std::string token_check_period = "10s";
  std::string plugin_timeout = "30s";
  std::string max_watch_size;
  std::string log_format = "text";
  int verbosity = 0;
  bool allow_core_dumps = false;
};

void DeclareServers(CLI::App& app, ManagerOptions& options) {
  app.add_option("--health-probe-bind-address,--health-address", options.health_address,
                 "Where /healthz and /readyz are served, to everybody; 0: nowhere.")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--grpc-health-address", options.grpc_health_address,
                 "Where gRPC's health service (grpc.health.v1) is served; 0: nowhere.")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option(
         "--metrics-bind-address,--metrics-address", options.metrics_address,
         "Where /metrics is served; 0: nowhere. Other than loopback: with --metrics-secure.")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_flag("--metrics-secure", options.metrics_secure,
               "Serve /metrics over HTTPS, to whom Kubernetes allows `get` on it.");
  ServingCertificate::Options& certificate = options.metrics_certificate;
  app.add_option("--metrics-cert-path,--metrics-cert-dir", certificate.dir,
                 "The folder of its certificate, followed as it changes. Default: one that signs "
                 "itself.")
      ->type_name("DIR");
  app.add_option("--metrics-cert-name", certificate.cert_name, "The certificate's file there.")
      ->type_name("FILE")
      ->capture_default_str();
  app.add_option("--metrics-cert-key", certificate.key_name, "Its key's file there.")
      ->type_name("FILE")
      ->capture_default_str();
}

void DeclareIdentities(CLI::App& app, Raw& raw, ManagerOptions& options) {
  app.add_option(
         "--identity-mode", raw.identity_mode,
         "How components act: token (each has its own ServiceAccount's), impersonate "
         "(base's, as the component; base's permissions to do so are those of all components "
         "together), single (all as base, for clusters without RBAC).")
      ->type_name("MODE")
      ->capture_default_str();
  app.add_flag(
      "--create-service-accounts", options.create_service_accounts,
      "Let base create missing ServiceAccounts; the chart grants it that only on request.");
  app.add_flag("--bind-tokens-to-secrets", options.bind_tokens_to_secrets,
               "Bind each component's tokens to the Secret of its ServiceAccount's name, whose "
               "deletion cuts it off.");
  app.add_option("--token-check-period", raw.token_check_period,
                 "How often tokens bound to Secrets are tried, so that an idle component's end is "
                 "noticed.")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--token-audiences", options.token_audiences,
                 "Whom components' tokens are for, the API server among them. Default: it alone.")
      ->delimiter(',')
      ->type_name("LIST");
}

void Declare(CLI::App& app, Raw& raw, ManagerOptions& options, const std::string& names) {
  app.add_option("--kubeconfig", raw.kubeconfig,
                 "The cluster and base's own credential. Default: $KUBECONFIG, else the pod's "
                 "ServiceAccount.")
      ->type_name("FILE");
  app.add_option("--credential-plugin-timeout", raw.plugin_timeout,
                 "How long the kubeconfig's exec plugin may take.")
      ->type_name("DURATION")
      ->capture_default_str();
  app.add_option("--namespace,-n", raw.ns,
                 "Of the manager, its ServiceAccounts and its Lease. Default: the kubeconfig's "
                 "context's, or the pod's.")
      ->type_name("NAME");
  app.add_option("--controllers", raw.controllers,
                 StrCat("Which to run: '*' all that are on by default, 'foo' enables foo, '-foo' "
                        "disables it. Known: ",
                        names, "."))
      ->delimiter(',')
      ->type_name("LIST")
      ->capture_default_str();
  app.add_flag("--leader-elect,!--no-leader-elect", options.leader_elect,
               "Run controllers only while holding the Lease mandate-manager. On by default; "
               "--leader-elect=false runs without.");
  DeclareServers(app, options);
  DeclareIdentities(app, raw, options);
  app.add_option("--guard-mode,--guard", raw.guard,
                 "What becomes of a request that no marker declares: enforce (refused before it is "
                 "sent), warn, off.")
      ->type_name("MODE")
      ->capture_default_str();
  app.add_option("--max-watch-size", raw.max_watch_size,
                 "How much all watches may hold, encoded. Each component has a share of its own in "
                 "one half of it; a kind that grows beyond what is left is not served, the others "
                 "are. Default: a quarter of the container's memory limit; 1Gi without a limit.")
      ->type_name("QUANTITY");
  app.add_option("--log-format", raw.log_format, "text or json.")
      ->check(CLI::IsMember({"text", "json"}))
      ->type_name("FORMAT")
      ->capture_default_str();
  app.add_option("-v,--v", raw.verbosity, "More of the log: 0 to 5.")
      ->check(CLI::Range(0, 5))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--allow-core-dumps", raw.allow_core_dumps,
               "Let a crash dump its core, and debuggers attach. A core has all tokens in it.");
  app.set_version_flag("--version", std::string("mandate-manager ") + kVersion);
}

absl::StatusOr<ClusterConfig> FindCluster(const std::string& kubeconfig) {
  const auto paths = KubeconfigPaths(kubeconfig, ProcessEnvironment());
  if (!paths.empty()) return LoadKubeconfig(paths);
  auto pod = InClusterConfig();
  if (pod.ok()) return pod;
  return absl::InvalidArgumentError(StrCat("--kubeconfig: required, as $KUBECONFIG is not set and ",
                                           AsStd(pod.status().message())));
}

absl::Status Usage(std::string_view what) {
  return absl::InvalidArgumentError(StrCat(what, " (see mandate-manager --help)"));
}

// "0" is none.
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
    return Usage(StrCat("--metrics-secure: metrics need an address of their own, not ",
                        options.metrics_address,
                        ", where probes are answered to everybody; set "
                        "--metrics-bind-address"));
  }
  if (!options.metrics_secure && !loopback) {
    return Usage(StrCat("--metrics-bind-address: at ", options.metrics_address,
                        " everybody could read the metrics; add --metrics-secure, or bind "
                        "127.0.0.1"));
  }
  if (!options.metrics_secure && !options.metrics_certificate.dir.empty()) {
    return Usage("--metrics-cert-path: without --metrics-secure no certificate is used; add it");
  }
  return absl::OkStatus();
}

// From 1s to 1h.
absl::StatusOr<absl::Duration> Duration(std::string_view flag, const std::string& text,
                                        std::string_view example) {
  absl::Duration duration;
  if (absl::ParseDuration(text, &duration) && duration >= absl::Seconds(1) &&
      duration <= absl::Hours(1)) {
    return duration;
  }
  return Usage(StrCat(flag, ": \"", text, "\" is no duration from 1s to 1h; write ", example));
}

// From 1Mi to 1Ei.
absl::StatusOr<size_t> Bytes(std::string_view flag, const std::string& text) {
  constexpr int64_t kNanos = 1'000'000'000;
  const auto quantity = Quantity::Parse(text);
  constexpr int64_t kMost = int64_t{1} << 60;
  if (!quantity.ok() || quantity->nanos() < absl::int128(1 << 20) * kNanos ||
      quantity->nanos() > absl::int128(kMost) * kNanos) {
    return Usage(StrCat(flag, ": \"", text, "\" is not a quantity from 1Mi to 1Ei; write 1Gi"));
  }
  return static_cast<size_t>(quantity->nanos() / kNanos);
}

absl::Status ResolveIdentities(const Raw& raw, ManagerOptions& options) {
  auto mode = ParseIdentityMode(raw.identity_mode);
  if (!mode.ok()) return Usage(StrCat("--identity-mode: ", AsStd(mode.status().message())));
  options.identity_mode = *mode;
  ASSIGN_OR_RETURN(options.token_check_period,
                   Duration("--token-check-period", raw.token_check_period, "10s"));
  if (options.identity_mode == IdentityMode::kToken) return absl::OkStatus();
  const std::string why = StrCat("in mode ", raw.identity_mode,
                                 " components have no tokens; leave it out, or use "
                                 "--identity-mode=token");
  if (options.bind_tokens_to_secrets) return Usage(StrCat("--bind-tokens-to-secrets: ", why));
  if (!options.token_audiences.empty()) return Usage(StrCat("--token-audiences: ", why));
  return absl::OkStatus();
}

absl::StatusOr<Flags> Resolve(const Raw& raw, ManagerOptions options,
                              std::vector<ComponentSpec> all) {
  Flags flags;
  flags.allow_core_dumps = raw.allow_core_dumps;
  std::vector<std::string> known;
  for (const ComponentSpec& component : all) {
    if (IsController(component)) known.push_back(Name(component));
  }
  auto selected = SelectControllers(raw.controllers, known);
  if (!selected.ok()) return Usage(StrCat("--controllers: ", AsStd(selected.status().message())));
  for (ComponentSpec& component : all) {
    const bool enabled = IsController(component) ? std::find(selected->begin(), selected->end(),
                                                             Name(component)) != selected->end()
                                                 : options.metrics_secure;
    if (enabled) {
      flags.components.push_back(std::move(component));
    }
  }
  RETURN_IF_ERROR(ResolveIdentities(raw, options));
  RETURN_IF_ERROR(CheckServers(options));
  auto guard = ParseGuardMode(raw.guard);
  if (!guard.ok()) return Usage(StrCat("--guard-mode: ", AsStd(guard.status().message())));
  options.guard = *guard;
  if (!raw.max_watch_size.empty()) {
    ASSIGN_OR_RETURN(options.max_watch_bytes, Bytes("--max-watch-size", raw.max_watch_size));
  }
  ASSIGN_OR_RETURN(options.plugin_timeout,
                   Duration("--credential-plugin-timeout", raw.plugin_timeout, "30s"));
  auto cluster = FindCluster(raw.kubeconfig);
  if (!cluster.ok()) return Usage(AsStd(cluster.status().message()));
  options.cluster = *std::move(cluster);
  options.ns = !raw.ns.empty() ? raw.ns : options.cluster.ns;
  if (options.ns.empty())
    return Usage("--namespace: required, as the kubeconfig's context has none");
  options.version = kVersion;
  options.base_mandate = &kBase;
  options.log = Logger(
      StderrLogSink(raw.log_format == "json" ? LogFormat::kJson : LogFormat::kText, raw.verbosity),
      Clock::Real());
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
      return absl::InvalidArgumentError(
          StrCat("\"", name, "\" is not one of ", absl::StrJoin(known, ", ")));
    }
    (negative ? off : on).insert(name);
  }
  std::vector<std::string> selected;
  for (const std::string& name : known) {
    if (on.contains(name) || (all && !off.contains(name))) selected.push_back(name);
  }
  if (selected.empty()) return absl::InvalidArgumentError("nothing is left to run");
  return selected;
}

absl::StatusOr<Flags> ParseFlags(int argc, char** argv, std::vector<ComponentSpec> all) {
  CLI::App app(
      "Runs this project's controllers, each under its own ServiceAccount, with exactly the "
      "permissions\nthat its source marks.",
      "mandate-manager");
  app.get_formatter()->column_width(34);
  Raw raw;
  ManagerOptions options;
  std::vector<std::string> names;
  for (const ComponentSpec& component : all) {
    if (IsController(component)) names.push_back(Name(component));
  }
  Declare(app, raw, options, absl::StrJoin(names, ", "));
  // -v=1 as every Kubernetes program takes it; CLI11 knows -v 1, -v1 and --v=1.
  std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  for (std::string& argument : arguments) {
    if (argument.starts_with("-v=")) argument.insert(0, "-");
    // CLI11 would take the next argument for its value.
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) {
      return Usage(StrCat(argument, " has no value; give it one, or leave it out"));
    }
  }
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) return Usage(error.what());
    app.exit(error);  // prints the help or the version
    Flags flags;
    flags.exit_now = true;
    return flags;
  }
  return Resolve(raw, std::move(options), std::move(all));
}

}  // namespace mandate
