// A controller's watches leave notes in the binary, as typed calls do. The test reads its own
// binary.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "manager/cache/testing/fake_cache_view.h"
#include "manager/controller/controller_builder.h"
#include "manager/controller/demand_for.h"
#include "manager/controller/rest_event_recorder.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/object/kinds/coordination_v1.h"
#include "manager/object/kinds/rbac_v1.h"
#include "rbacgen/calls/compiled_calls.h"
#include "rbacgen/calls/testing/sample_mandates.h"

namespace mandate {
namespace {

class Idle : public Reconciler {
 public:
  absl::StatusOr<Result> Reconcile(const CallContext&, const Request&) override { return Result{}; }
};

TEST(ControllerBuilder, LeavesNotesOfItsWatches) {
  SimulatedLoop loop;
  SimulatedPool pool(loop, 1);
  FakeCacheView cache(loop);
  Metrics metrics;
  const auto controller =
      ControllerBuilder<kFirst>({"first", loop, pool, cache, metrics, Logger(), 1})
          .Named("watcher")
          .For<rbacv1::ClusterRole>()
          .Owns<rbacv1::RoleBinding>()
          .Watches<coordinationv1::Lease>(
              [](const coordinationv1::Lease&) { return std::vector<Request>(); })
          .WithEventFilter([](const ObjectEvent&) { return true; })
          .Complete(std::make_unique<Idle>());
  ASSERT_TRUE(controller.ok()) << controller.status();
  EXPECT_EQ((*controller)->name(), "watcher");

  const auto calls = rbacgen::ReadCompiledCalls("/proc/self/exe");
  ASSERT_TRUE(calls.ok()) << calls.status();
  std::vector<std::string> watched;
  for (const auto& call : *calls) {
    if (call.component == "first") {
      watched.push_back(StrCat(call.verb, " ", call.resource, ".", call.group, call.subresource));
    }
  }
  EXPECT_THAT(watched, testing::UnorderedElementsAre("list clusterroles.rbac.authorization.k8s.io",
                                                     "watch clusterroles.rbac.authorization.k8s.io",
                                                     "list rolebindings.rbac.authorization.k8s.io",
                                                     "watch rolebindings.rbac.authorization.k8s.io",
                                                     "list leases.coordination.k8s.io",
                                                     "watch leases.coordination.k8s.io"));
}

TEST(DemandFor, LeavesNotesOfItsWatches) {
  EXPECT_EQ((DemandFor<kSecond, rbacv1::ClusterRole>().spec.ns), "");
  EXPECT_EQ((DemandFor<kSecond, rbacv1::RoleBinding>(InNamespace{"a"}).spec.ns), "a");
  DemandFor<kSecond, coordinationv1::Lease>(OneObject{"a", "b"});
  const auto calls = rbacgen::ReadCompiledCalls("/proc/self/exe");
  ASSERT_TRUE(calls.ok()) << calls.status();
  std::vector<std::string> watched;
  for (const auto& call : *calls) {
    if (call.component == "second-of-two") watched.push_back(StrCat(call.verb, " ", call.resource));
  }
  EXPECT_THAT(watched, testing::UnorderedElementsAre("list clusterroles", "watch clusterroles",
                                                     "list rolebindings", "watch rolebindings",
                                                     "list leases", "watch leases"));
}

// Every component may write events, and the runtime writes them for it.
TEST(RestEventRecorder, LeavesNotesOfEvents) {
  // This call makes the linker keep the code.
  EXPECT_FALSE(RestEventRecorder::Create({}).ok());
  const auto calls = rbacgen::ReadCompiledCalls("/proc/self/exe");
  ASSERT_TRUE(calls.ok()) << calls.status();
  EXPECT_THAT(*calls, testing::IsSupersetOf<rbacgen::CompiledCall>(
                          {{"*", "create", "events.k8s.io", "events", ""},
                           {"*", "patch", "events.k8s.io", "events", ""}}));
}

}  // namespace
}  // namespace mandate
