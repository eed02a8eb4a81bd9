// mandate-manager: runs the components of this project in one process.
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <stop_token>
#include <thread>

#include "cmd/mandate-manager/components.h"
#include "cmd/mandate-manager/flags.h"
#include "manager/core/core_dumps.h"
#include "manager/manager.h"

namespace mandate {
namespace {

constexpr int kUsageError = 2;

// Requests a stop at the first SIGINT or SIGTERM; the second one ends the process at once. The
// signals must be blocked in every thread, so this must be created before any thread starts.
class SignalStop {
 public:
  SignalStop() {
    sigemptyset(&signals_);
    sigaddset(&signals_, SIGINT);
    sigaddset(&signals_, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals_, nullptr);
  }

  void Start() {
    std::thread([this] {
      int signal = 0;
      sigwait(&signals_, &signal);
      source_.request_stop();
      sigwait(&signals_, &signal);
      // At a second signal, the process ends without cleaning up.
      std::_Exit(1);
    }).detach();
  }

  std::stop_token token() { return source_.get_token(); }

 private:
  sigset_t signals_;
  std::stop_source source_;
};

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "mandate-manager: %s\n", std::string(status.message()).c_str());
  return kUsageError;
}

int Main(int argc, char** argv) {
  // Must come before ParseFlags(), which reads the file of base's token.
  ForbidCoreDumps();
  // Lives until the process ends, because the signal thread is never joined.
  static SignalStop signals;
  signals.Start();

  const auto certificates = std::make_shared<certificates::Settings>();
  absl::StatusOr<Flags> flags = ParseFlags(argc, argv, AllComponents(certificates), *certificates);
  if (!flags.ok()) return Fail(flags.status());
  if (flags->exit_now) return 0;
  if (flags->allow_core_dumps) AllowCoreDumps();

  flags->manager.seed = std::random_device()();
  absl::StatusOr<std::unique_ptr<Manager>> manager =
      Manager::Create(std::move(flags->manager), std::move(flags->components));
  if (!manager.ok()) return Fail(manager.status());
  const absl::Status status = (*manager)->Run(signals.token());
  if (status.ok()) return 0;
  std::fprintf(stderr, "mandate-manager: %s\n", std::string(status.message()).c_str());
  // Leadership was lost, or a thread did not stop in time: end the process with its running
  // threads.
  std::_Exit(1);
}

}  // namespace
}  // namespace mandate

int main(int argc, char** argv) { return mandate::Main(argc, argv); }
