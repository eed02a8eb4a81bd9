#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "manager/controller/controller.h"
#include "manager/controller/testing/controller_fixture.h"

namespace mandate {
namespace {

// Random changes, failures, lost sources and slow reconcilers, on many schedules: in the end each
// object was reconciled after its last change.
class ControllerSimulation : public ControllerTest, public testing::WithParamInterface<int> {};

TEST_P(ControllerSimulation, EveryChangeIsReconciledAfterwards) {
  std::mt19937_64 random(static_cast<uint64_t>(GetParam()));
  SimulatedPool pool(loop_, random());
  std::map<std::string, std::string> reconciled;  // name to the holder that was seen
  std::set<std::string> running;
  bool calm = false;
  reconcile_ = [&](const CallContext&, const Request& request) -> absl::StatusOr<Result> {
    EXPECT_TRUE(running.insert(request.key.name).second);
    const auto lease = cache_.Get<Lease>({}, request.key);
    if (random() % 4 == 0) {
      Latch done;
      loop_.PostAt(loop_.clock().TimeNow() + absl::Milliseconds(random() % 3000),
                   [&] { done.Set(); });
      pool.Await(done);
    }
    running.erase(request.key.name);
    if (!calm && random() % 3 == 0) {
      if (random() % 2 == 0) throw std::runtime_error("chaos");
      return absl::UnavailableError("chaos");
    }
    if (absl::IsNotFound(lease.status())) {
      reconciled[request.key.name] = "gone";
      return Result{};
    }
    if (!lease.ok()) return lease.status();
    reconciled[request.key.name] = lease->spec().holderidentity();
    return random() % 5 == 0 ? Result{absl::Milliseconds(random() % 5000)} : Result{};
  };
  controller_options_.max_concurrent_reconciles = 1 + static_cast<int>(random() % 4);
  Controller::Options options = OptionsOf({Of(kLease), Of(kRole)});
  ControllerRuntime runtime{
      "scope-instance", loop_, pool, cache_, metrics_, Logger(log_, loop_.clock()), 1};
  auto controller = Controller::Create({.name = "scope",
                                        .runtime = runtime,
                                        .sources = std::move(options.sources),
                                        .reconciler = std::move(options.reconciler),
                                        .controller = controller_options_});
  ASSERT_TRUE(controller.ok());
  controller_ = *std::move(controller);
  controller_->Start();

  std::map<std::string, std::string> last;
  for (int step = 0; step < 300; ++step) {
    const std::string name = "l" + std::to_string(random() % 8);
    switch (random() % 6) {
      case 0:
        if (last.contains(name)) {
          cache_.Remove(kLease, {"", name});
          last[name] = "gone";
        }
        break;
      case 1:
        cache_.SetState(kLease, random() % 2 == 0 ? DemandState::kStale : DemandState::kSynced,
                        absl::OkStatus());
        break;
      default:
        last[name] = std::to_string(step);
        PutLease(name, last[name]);
        break;
    }
    loop_.RunFor(absl::Milliseconds(random() % 200));
  }
  calm = true;
  cache_.SetState(kLease, DemandState::kSynced);
  loop_.RunFor(absl::Hours(1));
  EXPECT_TRUE(running.empty());
  for (const auto& [name, holder] : last) {
    if (holder == "gone" && !reconciled.contains(name)) continue;  // never seen at all
    EXPECT_EQ(reconciled[name], holder) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ControllerSimulation, testing::Range(1, 60));

}  // namespace
}  // namespace mandate
