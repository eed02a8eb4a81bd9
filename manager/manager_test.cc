#include "manager/manager.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "manager/controller/builder.h"
#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/loop_label.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/rbac/events_rule.h"
#include "manager/testing_manager.h"

namespace mandate {
namespace {

using apiserver::GroupResource;
using apiserver::ServerCore;
using testing::HasSubstr;

constexpr std::string_view kReads[] = {"list", "watch"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kConfigMaps[] = {"configmaps"};
constexpr rbac::MandateRule kKeeperRules[] = {{{kReads, kCore, kConfigMaps, {}, {}}, "", false},
                                              {rbac::kEventsRule, "", false}};
constexpr rbac::Mandate kKeeper = {"keeper", kKeeperRules};

// It does nothing.
constexpr rbac::Mandate kIdle = {"idle", {}};

// A Manager with a component that reconciles one ConfigMap, and an idle one.
class ManagerTest : public testing::Test {
 protected:
  ManagerTest() {
    test_.server().OnLoop([](ServerCore& core) {
      ASSERT_TRUE(core.Load(R"({"apiVersion":"v1","kind":"ConfigMap",
                                "metadata":{"name":"a","namespace":"default"}})")
                      .ok());
    });
  }
  // A reconciler that a failed test left behind can end.
  ~ManagerTest() override { may_end_.Set(); }

  std::vector<ComponentSpec> Components() {
    return {{&kKeeper,
             [this](const Component& component) -> absl::StatusOr<Controllers> {
               events_ = &component.events;
               ASSIGN_OR_RETURN(auto controller,
                                UncheckedControllerBuilder(component.controller_context)
                                    .For<corev1::ConfigMap>()
                                    .Complete(std::make_unique<FunctionReconciler>(
                                        [this](const CallContext& context, const Request&) {
                                          Reconcile(context);
                                          return Result{};
                                        })));
               Controllers controllers;
               controllers.push_back(std::move(controller));
               return controllers;
             }},
            {&kIdle, [this](const Component& component) -> absl::StatusOr<Controllers> {
               idle_events_ = &component.events;
               return Controllers();
             }}};
  }
  void Reconcile(const CallContext& context) {
    const std::stop_callback on_stop(context.stop, [this] {
      if (obeys_) may_end_.Set();
    });
    begun_.Set();
    may_end_.Wait();
  }

  void RunUntilBegun() {
    test_.Run(Components());
    begun_.Wait();
  }
  static void Record(EventRecorder& events) {
    events.Record({"v1", "ConfigMap", "default", "a", "uid"}, EventType::kNormal, "Kept", "Keep",
                  "so it is");
  }

  Latch begun_;
  Latch may_end_;
  bool obeys_ = true;  // whether the reconciler ends when it is asked to
  EventRecorder* events_ = nullptr;
  EventRecorder* idle_events_ = nullptr;
  TestManager test_{{&kKeeper, &kIdle}};
};

TEST_F(ManagerTest, ReleasesTheLeaseAtTheEnd) {
  RunUntilBegun();
  EXPECT_NE(test_.Holder(), "");
  EXPECT_EQ(test_.Stop(), absl::OkStatus());
  EXPECT_EQ(test_.Holder(), "");
}

TEST_F(ManagerTest, RejectsAnInvalidHealthAddress) {
  test_.options.health_address = "nowhere";
  EXPECT_TRUE(absl::IsInvalidArgument(test_.Create(Components()).status()));
}

TEST_F(ManagerTest, SendsRecordedEventsBeforeTheEnd) {
  RunUntilBegun();
  test_.server().OnLoop([](ServerCore& core) {
    core.faults().Add({.verb = "create",
                       .path_prefix = "/apis/events.k8s.io/",
                       .fault = {.delay = absl::Milliseconds(100)}});
  });
  Record(*events_);
  EXPECT_EQ(test_.Stop(), absl::OkStatus());
  EXPECT_EQ(test_.EventWrites(), 1u);
}

TEST_F(ManagerTest, DropsEventsOfAComponentWithoutTheEventsRule) {
  RunUntilBegun();
  Record(*idle_events_);
  EXPECT_EQ(test_.Stop(), absl::OkStatus());
  // The guard would reject them.
  EXPECT_EQ(test_.log().Count("Cannot record events"), 0);
}

TEST_F(ManagerTest, ChecksThePermissionsAgainAfterADeniedRequest) {
  test_.server().OnLoop([](ServerCore& core) {
    // A rule without a fault counts what it matches.
    core.faults().Add({.verb = "create",
                       .path_prefix = "/apis/authorization.k8s.io/",
                       .except_bearer = kBaseToken});
  });
  const auto wait_for_reviews = [this](size_t count) {
    size_t reviews = 0;
    while (reviews < count) {
      test_.server().OnLoop([&](ServerCore& core) { reviews = core.faults().struck(); });
    }
  };
  RunUntilBegun();
  static constexpr size_t kPermissions = 4;
  wait_for_reviews(kPermissions);
  test_.server().OnLoop([](ServerCore& core) {
    EXPECT_EQ(core.faults().struck(), kPermissions);
    core.store().Delete({"rbac.authorization.k8s.io", "clusterrolebindings"}, "",
                        "mandate-manager-keeper.default");
  });
  Record(*events_);
  wait_for_reviews(kPermissions + 1);
  EXPECT_EQ(test_.Stop(), absl::OkStatus());
}

// Their owners may end later than Run().
TEST_F(ManagerTest, ClosesAllWatchesAtTheEnd) {
  const auto watches = [this] {
    size_t open = 0;
    test_.server().OnLoop([&](ServerCore& core) { open = core.stats().watches; });
    return open;
  };
  constexpr size_t kScopes = 60;  // more than are closed at once
  std::vector<std::unique_ptr<DemandHandle>> demands;
  test_.Run({{&kKeeper, [&](const Component& component) -> absl::StatusOr<Controllers> {
                for (size_t i = 0; i < kScopes; ++i) {
                  demands.push_back(component.cache().Demand(
                      {KindOf<corev1::ConfigMap>::value, "default", StrCat("n", i)}, nullptr));
                }
                return Controllers();
              }}});
  while (watches() < kScopes) {
  }
  EXPECT_EQ(test_.Stop(), absl::OkStatus());
  while (watches() > 0) {
  }
}

TEST_F(ManagerTest, KeepsTheLeaseWhileAReconcilerRuns) {
  obeys_ = false;
  test_.options.graceful_shutdown_timeout = absl::Milliseconds(50);
  RunUntilBegun();
  const std::string holder = test_.Holder();
  EXPECT_NE(holder, "");
  const absl::Status result = test_.Stop();
  EXPECT_TRUE(absl::IsDeadlineExceeded(result)) << result;
  EXPECT_EQ(test_.Holder(), holder);
}

TEST_F(ManagerTest, AbortsWhenTheLeaseIsLostWhileAReconcilerEnds) {
  obeys_ = false;
  RunUntilBegun();
  // The third of the same is sent much later, or at the end.
  for (size_t sent = 1; sent <= 3; ++sent) {
    Record(*events_);
    while (test_.EventWrites() < std::min<size_t>(sent, 2)) {
    }
  }
  test_.RequestStop();
  test_.server().OnLoop([](ServerCore& core) {
    const GroupResource leases{"coordination.k8s.io", "leases"};
    Json::Value lease = core.store().Get(leases, "default", "mandate-manager")->Parse();
    lease["spec"]["holderIdentity"] = "another";
    core.store().Put(leases, std::move(lease));
  });
  test_.log().Await("Lost the Lease");
  may_end_.Set();
  const absl::Status result = test_.Stop();
  EXPECT_TRUE(absl::IsAborted(result)) << result;
  EXPECT_EQ(test_.Holder(), "another");
  EXPECT_EQ(test_.EventWrites(), 2u) << "nothing is written after the loss";
}

TEST_F(ManagerTest, BindsATokenToTheSecretOfItsComponent) {
  test_.options.bind_tokens_to_secrets = true;
  test_.Run(Components());
  test_.log().Await(R"(secrets \"mandate-manager-keeper\" not found)");
  EXPECT_FALSE(begun_.IsSet()) << "there is no Secret";
  EXPECT_EQ(test_.Stop(), absl::OkStatus());
}

TEST_F(ManagerTest, ReportsATaskThatHoldsTheLoop) {
  test_.options.loop_block_warning_after = absl::Milliseconds(250);
  Loop* loop = nullptr;
  const auto manager =
      test_.Create({{&kIdle, [&](const Component& component) -> absl::StatusOr<Controllers> {
                       loop = &component.controller_context.loop;
                       return Controllers();
                     }}});
  ASSERT_TRUE(manager.ok()) << manager.status();
  Latch held;
  loop->Post([&] {
    const LoopLabel label("idle", "a map that sleeps");
    test_.log().Await("a map that sleeps");
    held.Set();
  });
  EXPECT_THAT(test_.log().Await("a map that sleeps"), HasSubstr("The event loop is blocked"));
  held.Wait();
}

TEST_F(ManagerTest, ChecksBasesPermissionsFirstInModeImpersonate) {
  test_.options.identity_mode = IdentityMode::kImpersonate;
  test_.Run(Components());
  EXPECT_THAT(test_.log().Await("Permissions are missing component=idle"),
              HasSubstr("may not act as component idle: it may not impersonate"));
  EXPECT_EQ(test_.Stop(), absl::OkStatus());
}

}  // namespace
}  // namespace mandate
