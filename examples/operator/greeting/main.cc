// greeting-operator KUBECONFIG: runs the operator until SIGINT or SIGTERM.
#include <csignal>
#include <cstdio>
#include <random>
#include <stop_token>
#include <thread>

#include "greeting/base_mandate.h"
#include "greeting/reconciler.h"
#include "manager/core/clock.h"
#include "manager/core/core_dumps.h"
#include "manager/core/log.h"
#include "manager/kubeconfig/kubeconfig.h"
#include "manager/manager.h"

namespace {

absl::Status Run(const std::string& kubeconfig, std::stop_token stop) {
  auto cluster = mandate::LoadKubeconfig({kubeconfig});
  if (!cluster.ok()) return cluster.status();
  mandate::ManagerOptions options;
  options.ns = cluster->ns;
  options.cluster = *std::move(cluster);
  options.version = "0.1.0";
  options.base_mandate = &mandate::kBase;
  options.seed = std::random_device()();
  options.log =
      mandate::Logger(mandate::StderrLogSink(mandate::LogFormat::kText, 0), mandate::Clock::Real());
  auto manager = mandate::Manager::Create(
      std::move(options),
      {{&mandate::kGreeting, mandate::MakeOnlyController<example::MakeController>}});
  return manager.ok() ? (*manager)->Run(stop) : manager.status();
}

}  // namespace

int main(int argc, char** argv) {
  mandate::ForbidCoreDumps();
  if (argc != 2) {
    std::fprintf(stderr, "usage: greeting-operator KUBECONFIG\n");
    return 2;
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::stop_source stop;
  std::thread([&] {
    int signal = 0;
    sigwait(&signals, &signal);
    stop.request_stop();
  }).detach();
  const absl::Status status = Run(argv[1], stop.get_token());
  if (status.ok()) return 0;
  std::fprintf(stderr, "greeting-operator: %s\n", std::string(status.message()).c_str());
  return 1;
}
