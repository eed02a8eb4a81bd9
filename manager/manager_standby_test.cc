// A replica that does not lead, and then does.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "manager/controller/builder.h"
#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/status_macros.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/testing_manager.h"

namespace mandate {
namespace {

using apiserver::ServerCore;

constexpr rbac::MandateRule kKeeperRules[] = {{kReadConfigMaps, "", false}};
constexpr rbac::Mandate kKeeper = {"keeper", kKeeperRules};
constexpr rbac::Mandate kIdle = {"idle", {}};

// The first manager leads, and has nothing to do. The second one is the standby.
class ManagerStandbyTest : public testing::Test {
 protected:
  ManagerStandbyTest() {
    test_.server().OnLoop([](ServerCore& core) {
      ASSERT_TRUE(core.Load(R"({"apiVersion":"v1","kind":"ConfigMap",
                                "metadata":{"name":"a","namespace":"default"}})")
                      .ok());
    });
    test_.Run({{.mandate = &kIdle}});
    test_.log().Await("Became leader");
  }
  ~ManagerStandbyTest() override { stop_.request_stop(); }

  void RunStandby(ComponentSpec component) {
    ManagerOptions options = test_.options;
    options.log = Logger(log_, Clock::Real());
    options.seed = 2;  // another holder of the Lease
    std::vector<ComponentSpec> components;
    components.push_back(std::move(component));
    auto standby = Manager::Create(std::move(options), std::move(components));
    ASSERT_TRUE(standby.ok()) << standby.status();
    standby_ = *std::move(standby);
    runs_ = std::jthread([this] { EXPECT_EQ(standby_->Run(stop_.get_token()), absl::OkStatus()); });
  }
  // The first manager ends, and the standby leads.
  void Lead() {
    EXPECT_EQ(test_.Stop(), absl::OkStatus());
    log_->Await("Became leader");
  }
  // How many lists and watches the server has been asked for.
  size_t Reads() {
    size_t reads = 0;
    test_.server().OnLoop([&](ServerCore& core) {
      auto verbs = core.stats().by_verb;
      reads = verbs["list"] + verbs["watch"];
    });
    return reads;
  }
  size_t OpenWatches() {
    size_t watches = 0;
    test_.server().OnLoop([&](ServerCore& core) { watches = core.stats().watches; });
    return watches;
  }

  TestManager test_{{&kKeeper, &kIdle}};
  std::shared_ptr<AwaitedLog> log_ = std::make_shared<AwaitedLog>();
  std::stop_source stop_;
  std::unique_ptr<Manager> standby_;
  std::jthread runs_;
};

TEST_F(ManagerStandbyTest, AWarmStandbyLeadsWithoutAList) {
  Latch reconciled;
  std::atomic<bool> leads = false;
  std::atomic<bool> too_early = false;
  RunStandby({&kKeeper, [&](const Component& component) -> absl::StatusOr<Controllers> {
                ASSIGN_OR_RETURN(auto controller,
                                 UncheckedControllerBuilder(component.controller_context)
                                     .For<corev1::ConfigMap>()
                                     .WithOptions({.warm_up = true})
                                     .Complete(std::make_unique<FunctionReconciler>(
                                         [&](const CallContext&, const Request&) {
                                           if (!leads) too_early = true;
                                           reconciled.Set();
                                           return Result{};
                                         })));
                Controllers controllers;
                controllers.push_back(std::move(controller));
                return controllers;
              }});
  log_->Await("Warming up");
  while (OpenWatches() == 0) std::this_thread::yield();
  const size_t reads = Reads();
  leads = true;
  Lead();
  reconciled.Wait();
  EXPECT_FALSE(too_early);
  EXPECT_EQ(Reads(), reads) << "the watch of the standby goes on";
}

TEST_F(ManagerStandbyTest, RunnablesRunWhereTheyAreNeeded) {
  Latch everywhere;
  Latch on_the_leader;
  std::atomic<bool> leads = false;
  std::atomic<bool> too_early = false;
  RunStandby(
      {.mandate = &kKeeper, .make_runnables = [&](const Component&) -> absl::StatusOr<Runnables> {
         return Runnables{{.name = "everywhere",
                           .needs_leader = false,
                           .run =
                               [&](const CallContext& context) {
                                 Latch stopped;
                                 const std::stop_callback on_stop(context.stop,
                                                                  [&] { stopped.Set(); });
                                 everywhere.Set();
                                 stopped.Wait();
                                 return absl::OkStatus();
                               }},
                          {.name = "leader", .run = [&](const CallContext&) {
                             if (!leads) too_early = true;
                             on_the_leader.Set();
                             return absl::OkStatus();
                           }}};
       }});
  everywhere.Wait();
  leads = true;
  Lead();
  on_the_leader.Wait();
  EXPECT_FALSE(too_early);
}

}  // namespace
}  // namespace mandate
