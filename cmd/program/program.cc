#include "cmd/program/program.h"

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>

#include "cmd/program/flags.h"
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

void Print(const Program& program, const absl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", program.name.c_str(), std::string(status.message()).c_str());
}

}  // namespace

int RunProgram(const Program& program, int argc, char** argv) {
  // Must come before ParseFlags(), which reads the file of base's token.
  ForbidCoreDumps();
  // Lives until the process ends, because the signal thread is never joined.
  static SignalStop signals;
  signals.Start();

  absl::StatusOr<Flags> flags = ParseFlags(program, argc, argv);
  if (!flags.ok()) {
    Print(program, flags.status());
    return kUsageError;
  }
  if (flags->exit_now) return 0;
  if (flags->allow_core_dumps) AllowCoreDumps();

  // Of all 64 bits, because the ids of traces follow from it.
  std::random_device device;
  flags->manager.seed = uint64_t{device()} << 32 | device();
  absl::StatusOr<std::unique_ptr<Manager>> manager =
      Manager::Create(std::move(flags->manager), std::move(flags->components));
  if (!manager.ok()) {
    Print(program, manager.status());
    return kUsageError;
  }
  const absl::Status status = (*manager)->Run(signals.token());
  if (status.ok()) return 0;
  Print(program, status);
  // Leadership was lost, or a thread did not stop in time: end the process with its running
  // threads.
  std::_Exit(1);
}

}  // namespace mandate
