// memcached-operator: runs the components of the demo of the scoped cache (hack/demo/scoped).
#include <CLI/CLI.hpp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <stop_token>
#include <string>
#include <thread>

#include "controllers/access_observer/access_observer.h"
#include "controllers/memcached/bar/reconciler.h"
#include "controllers/memcached/base_mandate.h"
#include "controllers/memcached/reconciler.h"
#include "manager/core/clock.h"
#include "manager/core/core_dumps.h"
#include "manager/core/log.h"
#include "manager/core/status_macros.h"
#include "manager/kubeconfig/kubeconfig.h"
#include "manager/manager.h"
#include "version.h"

namespace mandate::memcached {
namespace {

struct Flags {
  std::string kubeconfig;
  ManagerOptions options;
  int verbosity = 0;
};

void Declare(CLI::App& app, Flags& flags) {
  app.add_option("--kubeconfig", flags.kubeconfig, "Kubeconfig with base's credential.")
      ->required()
      ->type_name("FILE");
  app.add_option("--namespace", flags.options.ns, "Namespace of the ServiceAccounts.")
      ->required()
      ->type_name("NAME");
  app.add_option("--health-probe-bind-address", flags.options.health_address,
                 "Address of /healthz and /readyz.")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--metrics-bind-address", flags.options.metrics_address, "Address of /metrics.")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--v", flags.verbosity, "Verbosity of the log.")->capture_default_str();
}

absl::Status Run(Flags flags, std::stop_token stop) {
  ManagerOptions& options = flags.options;
  ASSIGN_OR_RETURN(options.cluster, LoadKubeconfig({flags.kubeconfig}));
  options.version = kVersion;
  options.base_mandate = &kBase;
  options.seed = std::random_device()();
  options.log = Logger(StderrLogSink(LogFormat::kText, flags.verbosity), Clock::Real());
  ASSIGN_OR_RETURN(
      const std::unique_ptr<Manager> manager,
      Manager::Create(std::move(options),
                      {{&kMemcached, MakeOnlyController<memcached::MakeController>},
                       {&kBar, MakeOnlyController<bar::MakeController>},
                       {&kAccessObserver, MakeOnlyController<access::MakeController>}}));
  return manager->Run(stop);
}

int Main(int argc, char** argv) {
  ForbidCoreDumps();
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  // Lives until the process ends, because the signal thread is never joined.
  static std::stop_source stop;
  std::thread([signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    stop.request_stop();
  }).detach();

  CLI::App app("Runs the operators of \"Informers Based on RBAC\": memcached and bar.",
               "memcached-operator");
  Flags flags;
  Declare(app, flags);
  CLI11_PARSE(app, argc, argv);
  const absl::Status status = Run(std::move(flags), stop.get_token());
  if (status.ok()) return 0;
  std::fprintf(stderr, "memcached-operator: %s\n", std::string(status.message()).c_str());
  std::_Exit(1);  // threads may still run
}

}  // namespace
}  // namespace mandate::memcached

int main(int argc, char** argv) { return mandate::memcached::Main(argc, argv); }
