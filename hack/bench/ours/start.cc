// B11: the smallest manager with one controller. It reports its first reconcile, and runs until it
// is killed.
#include <cstdio>
#include <memory>
#include <mutex>
#include <stop_token>

#include "hack/bench/ours/rig.h"
#include "hack/bench/ours/smallest_manager.h"
#include "manager/controller/builder.h"
#include "manager/core/status_macros.h"
#include "manager/manager.h"

namespace mandate::bench {
namespace {

constexpr rbac::Mandate kBench = {"bench", kReadRules};

class SayingSo : public Reconciler {
 public:
  absl::StatusOr<Result> Reconcile(const CallContext&, const Request&) override {
    std::call_once(once_, [] {
      std::puts("reconciled");
      std::fflush(stdout);
    });
    return Result{};
  }

 private:
  std::once_flag once_;
};

absl::StatusOr<Controllers> MakeController(const Component& component) {
  ASSIGN_OR_RETURN(auto controller, UncheckedControllerBuilder(component.controller_context)
                                        .Named("bench")
                                        .For({kConfigMaps, "", ""}, {})
                                        .Complete(std::make_unique<SayingSo>()));
  Controllers controllers;
  controllers.push_back(std::move(controller));
  return controllers;
}

absl::Status Run(const std::string& kubeconfig) {
  ASSIGN_OR_RETURN(ManagerOptions options, SmallestManager(kubeconfig));
  ASSIGN_OR_RETURN(auto manager, Manager::Create(std::move(options), {{&kBench, MakeController}}));
  return manager->Run(std::stop_token());
}

}  // namespace
}  // namespace mandate::bench

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const absl::Status status = mandate::bench::Run(argv[1]);
  if (!status.ok()) std::fprintf(stderr, "start: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
