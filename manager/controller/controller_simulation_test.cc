#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <stdexcept>
#include <string>

#include "manager/controller/controller.h"
#include "manager/controller/testing/controller_fixture.h"

namespace mandate {
namespace {

// Random changes, failures, lost sources and slow reconcilers, on many schedules. In the end each
// lease has been reconciled after its last change, and after the last change of the role that its
// holder names. The map of the roles finds these leases.
class ControllerSimulation : public ControllerTest, public testing::WithParamInterface<int> {
 protected:
  ControllerSimulation() : ControllerTest(static_cast<uint64_t>(GetParam())) {}

  size_t Random(size_t below) { return random_() % below; }

  absl::StatusOr<Result> Reconcile(const Request& request) {
    EXPECT_TRUE(running_.insert(request.key.name).second);
    const auto seen = See(request.key);
    if (Random(4) == 0) Wait(absl::Milliseconds(Random(3000)));
    running_.erase(request.key.name);
    if (!calm_ && Random(3) == 0) {
      if (Random(2) == 0) throw std::runtime_error("chaos");
      return absl::UnavailableError("chaos");
    }
    if (!seen.ok()) return seen.status();
    reconciled_[request.key.name] = *seen;
    return !calm_ && Random(20) == 0 ? Result{absl::Milliseconds(Random(5000))} : Result{};
  }

  // The state on which a reconciliation depends.
  absl::StatusOr<std::string> See(const ObjectKey& key) {
    const auto lease = cache_.Get<Lease>({}, key);
    if (absl::IsNotFound(lease.status())) return "gone";
    if (!lease.ok()) return lease.status();
    const auto role = cache_.Get<Role>({}, {"", lease->spec().holderidentity()});
    if (!role.ok() && !absl::IsNotFound(role.status())) return role.status();
    return lease->metadata().resourceversion() + " with " +
           (role.ok() ? role->metadata().resourceversion() : "none");
  }

  void Step() {
    const std::string role = "r" + std::to_string(Random(4));
    const std::string lease = "l" + std::to_string(Random(8));
    switch (Random(8)) {
      case 0:
        cache_.Remove(kLease, {"", lease});
        break;
      case 1:
        cache_.Remove(kRole, {"", role});
        break;
      case 2:
      case 3: {
        constexpr DemandState kStates[] = {DemandState::kStale, DemandState::kForbidden,
                                           DemandState::kKindAbsent, DemandState::kSynced,
                                           DemandState::kSynced};
        cache_.SetState(Random(2) == 0 ? kLease : kRole, kStates[Random(std::size(kStates))],
                        absl::UnavailableError("chaos"));
        break;
      }
      case 4:
      case 5:
        PutRole(role);
        break;
      default:
        PutLease(lease, role);
        leases_.insert(lease);
    }
  }

  std::mt19937_64 random_{static_cast<uint64_t>(GetParam())};
  std::map<std::string, std::string> reconciled_;  // name to what was seen
  std::set<std::string> running_, leases_;
  bool calm_ = false;
};

TEST_P(ControllerSimulation, EveryChangeIsReconciledAfterwards) {
  reconcile_ = [&](const CallContext&, const Request& request) { return Reconcile(request); };
  controller_options_.max_concurrent_reconciles = 1 + static_cast<int>(Random(4));
  Start({Reconciled(kLease), RolesOfHolders()});

  for (int step = 0; step < 300; ++step) {
    Step();
    loop_.RunFor(absl::Milliseconds(Random(200)));
  }
  calm_ = true;
  cache_.SetState(kLease, DemandState::kSynced);
  cache_.SetState(kRole, DemandState::kSynced);
  loop_.RunFor(absl::Hours(1));
  EXPECT_TRUE(running_.empty());
  for (const std::string& name : leases_) {
    const std::string now = *See({"", name});
    if (now == "gone" && !reconciled_.contains(name)) continue;  // never seen at all
    EXPECT_EQ(reconciled_[name], now) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ControllerSimulation, testing::Range(1, 60));

}  // namespace
}  // namespace mandate
