// A controller in simulated time. The test sets the content and the states of its cache.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/testing/fake_cache_view.h"
#include "manager/controller/controller.h"
#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/testing/log_capture.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/kinds/coordination_v1.h"
#include "manager/object/kinds/rbac_v1.h"

namespace mandate {

// Single-threaded. The controller watches Leases and Roles, and is stopped in the end.
class ControllerTest : public testing::Test {
 protected:
  using Lease = coordinationv1::Lease;
  using Role = rbacv1::Role;
  static constexpr KindInfo kLease = KindOf<Lease>::value;
  static constexpr KindInfo kRole = KindOf<Role>::value;
  static constexpr absl::Duration kMs = absl::Milliseconds(1);

  explicit ControllerTest(uint64_t seed = 1) : pool_(loop_, seed) {}
  ~ControllerTest() override {
    if (controller_ != nullptr) {
      Stop();
      loop_.RunFor(absl::Minutes(1));
      EXPECT_TRUE(cache_.demands().empty());
      EXPECT_EQ(loop_.NextTimer(), absl::InfiniteFuture());
    }
  }

  ControllerContext Runtime() {
    return {"scope-instance", loop_, pool_, cache_, metrics_, Logger(log_, loop_.clock()), 1};
  }
  std::unique_ptr<Reconciler> Recorder() {
    return std::make_unique<FunctionReconciler>(
        [this](const CallContext& context, const Request& request) {
          names_.push_back(request.key.name);
          return reconcile_ ? reconcile_(context, request) : Result{};
        });
  }
  Controller::Options OptionsOf(std::vector<Source> sources) {
    return {.name = "scope",
            .controller_context = Runtime(),
            .sources = std::move(sources),
            .reconciler = Recorder(),
            .controller = controller_options_};
  }
  void Start(absl::StatusOr<std::unique_ptr<Controller>> controller) {
    ASSERT_TRUE(controller.ok()) << controller.status();
    controller_ = *std::move(controller);
    controller_->Start();
    loop_.RunFor(kMs);
  }
  void Start(std::vector<Source> sources) {
    Start(Controller::Create(OptionsOf(std::move(sources))));
  }
  // Starts, lets the initial objects be reconciled, and forgets their names.
  void StartAndSettle(std::vector<Source> sources) {
    Start(std::move(sources));
    (void)SettleAndTake();
  }
  void Stop() { EXPECT_TRUE(controller_->Stop(absl::InfiniteFuture()).ok()); }
  void Deny(const KindInfo& kind) {
    cache_.SetState(kind, DemandState::kForbidden, absl::PermissionDeniedError("no"));
  }
  // The map of roles finds the leases whose holder has the role's name.
  Source RolesOfHolders() {
    Source roles = Of(kRole);
    roles.handler = EnqueueMapped<Role>([this](const Role& role) {
      ++map_calls_;
      std::vector<Request> requests;
      for (const auto& raw : cache_.ListLastKnown(kLease, "")) {
        if (raw->Decode<Lease>()->spec().holderidentity() == role.metadata().name()) {
          requests.push_back({raw->Key()});
        }
      }
      return requests;
    });
    return roles;
  }
  static Source Of(const KindInfo& kind) {
    return {.demand = {kind, "", ""}, .handler = EnqueueObject(), .predicates = {}};
  }
  // A source like that of the builder's For().
  static Source Reconciled(const KindInfo& kind) {
    Source source = Of(kind);
    source.is_primary = true;
    return source;
  }

  Lease PutLease(const std::string& name, const std::string& holder = "") {
    Lease lease;
    lease.mutable_metadata()->set_name(name);
    lease.mutable_spec()->set_holderidentity(holder);
    return cache_.Put(lease);
  }
  void PutRole(const std::string& name) {
    Role role;
    role.mutable_metadata()->set_name(name);
    cache_.Put(role);
  }
  // Lets this much time pass. For reconcilers and maps.
  void Wait(absl::Duration time) {
    Latch over;
    loop_.PostAt(loop_.clock().TimeNow() + time, [&] { over.Set(); });
    pool_.Await(over);
  }
  double Counter(const std::string& name, Labels labels = {}) {
    labels.insert({{"controller", "scope"}, {"identity", "scope-instance"}});
    return metrics_.Counter(name, "", labels).Value();
  }
  double Gauge(const std::string& name, Labels labels = {}) {
    labels.insert({{"controller", "scope"}, {"identity", "scope-instance"}});
    return metrics_.Gauge(name, "", labels).Value();
  }
  // Why the controller is not ready.
  std::string NotReady() { return std::string(controller_->Ready().message()); }
  std::vector<std::string> TakeNames() { return std::exchange(names_, {}); }
  std::set<std::string> TakeDistinctNames() {
    const std::vector<std::string> names = TakeNames();
    return {names.begin(), names.end()};
  }
  std::vector<std::string> SettleAndTake() {
    loop_.RunFor(absl::Seconds(1));
    return TakeNames();
  }

  SimulatedLoop loop_;
  SimulatedPool pool_;
  FakeCacheView cache_{loop_};
  Metrics metrics_;
  std::shared_ptr<LogCapture> log_ = std::make_shared<LogCapture>();
  ControllerOptions controller_options_;
  FunctionReconciler::Function reconcile_;
  std::vector<std::string> names_;  // of each reconciliation
  int map_calls_ = 0;               // calls of the map of RolesOfHolders()
  std::unique_ptr<Controller> controller_;
};

}  // namespace mandate
