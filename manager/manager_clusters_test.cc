// A Manager with components in two clusters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "manager/client/unstructured_client.h"
#include "manager/controller/builder.h"
#include "manager/controller/testing/function_reconciler.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/serving/testing/http_client.h"
#include "manager/testing_manager.h"
#include "testing/apiserver/errors.h"

namespace mandate {
namespace {

using apiserver::kAdminToken;
using apiserver::ServerCore;
using testing::AllOf;
using testing::HasSubstr;

constexpr std::string_view kApplies[] = {"create", "patch"};
constexpr rbac::MandateRule kHubRules[] = {{kReadConfigMaps, "", false}};
constexpr rbac::Mandate kHub = {"mirror-hub", kHubRules};
constexpr rbac::MandateRule kLeafRules[] = {
    {kReadConfigMaps, "", false}, {{kApplies, kTestGroups, kTestResources, {}, {}}, "", false}};
constexpr rbac::Mandate kLeaf = {"mirror-leaf", kLeafRules};

constexpr char kAway[] = "the leaf is away";

// An operator that copies each ConfigMap of the manager's own cluster to the cluster "leaf": its
// component mirror-hub reads here, and mirror-leaf writes and reads there.
class ManagerClustersTest : public testing::Test {
 protected:
  ManagerClustersTest() {
    hub_.options.health_address = "127.0.0.1:0";
    hub_.options.metrics_address = "127.0.0.1:0";
    hub_.options.clusters = {leaf_.options.cluster};
    hub_.options.clusters[0].name = "leaf";
    Load(hub_, "from-hub");
    Load(leaf_, "from-leaf");
  }

  static void Load(TestManager& cluster, const std::string& name) {
    cluster.server().OnLoop([&](ServerCore& core) {
      ASSERT_TRUE(core.Load(StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")",
                                   name, R"(","namespace":"default"}})"))
                      .ok());
    });
  }
  bool LeafHas(const std::string& name) {
    bool has = false;
    leaf_.server().OnLoop([&](ServerCore& core) {
      has = core.store().Get({"", "configmaps"}, "default", name) != nullptr;
    });
    return has;
  }

  std::vector<ComponentSpec> Components() {
    ComponentSpec leaf = Reader(kLeaf, [](const CallContext&, const Request&) { return Result{}; });
    leaf.cluster = "leaf";
    leaf.make_controllers = [this, make = leaf.make_controllers](const Component& component) {
      leaf_component_ = &component;
      return make(component);
    };
    return {std::move(leaf),
            Reader(kHub,
                   [this](const CallContext& context,
                          const Request& request) -> absl::StatusOr<Result> {
                     const std::string copy =
                         StrCat(R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")",
                                request.key.name, R"(","namespace":"default"}})");
                     ASSIGN_OR_RETURN(const Json::Value json, ParseJson(copy));
                     RETURN_IF_ERROR(UnstructuredClient(leaf_component_->client)
                                         .Apply(context, KindOf<corev1::ConfigMap>::value, json)
                                         .status());
                     return Result{};
                   })};
  }
  // A component that reconciles ConfigMaps, and logs what it sees.
  static ComponentSpec Reader(const rbac::Mandate& mandate,
                              FunctionReconciler::Function reconcile) {
    return {&mandate,
            [reconcile =
                 std::move(reconcile)](const Component& component) -> absl::StatusOr<Controllers> {
              ASSIGN_OR_RETURN(auto controller,
                               UncheckedControllerBuilder(component.controller_context)
                                   .For<corev1::ConfigMap>()
                                   .Complete(std::make_unique<FunctionReconciler>(
                                       [reconcile, log = component.controller_context.log,
                                        name = std::string(component.name())](
                                           const CallContext& context, const Request& request) {
                                         log.Info(StrCat(name, " sees ", request.key.name));
                                         return reconcile(context, request);
                                       })));
              Controllers controllers;
              controllers.push_back(std::move(controller));
              return controllers;
            }};
  }
  void Await(const std::string& line) { hub_.log().Await(line); }

  void RefuseEverythingInLeaf() {
    leaf_.server().OnLoop([](ServerCore& core) {
      core.faults().Add({.fault = {.refuse = apiserver::InternalError(kAway)}});
    });
  }
  void ServeInLeaf() {
    leaf_.server().OnLoop([](ServerCore& core) { core.faults().Clear(); });
  }

  std::string Get(const char* path) {
    const std::string line = hub_.log().Await("Serving health probes");
    return GetByHttp(line.substr(line.find("address=") + 8), path).body;
  }
  bool HubIsReady() { return Get("/readyz/mirror-hub") == "ok"; }
  bool LeafIsUnknown() {
    return Get("/readyz?verbose").find("warn: base-leaf: ") != std::string::npos;
  }

  const Component* leaf_component_ = nullptr;
  // The second one only serves: its cluster grants what the component there declares.
  TestManager leaf_{{&kLeaf}};
  TestManager hub_{{&kHub}};
};

TEST_F(ManagerClustersTest, AComponentHasItsIdentityAndItsCacheInItsCluster) {
  hub_.Run(Components());
  Await("mirror-leaf sees from-leaf");
  Await("mirror-leaf sees from-hub");  // the copy
  EXPECT_EQ(leaf_component_->cluster, "leaf");
  EXPECT_THAT(Get("/metrics"),
              AllOf(HasSubstr(R"(mandate_cache_objects{cluster="leaf",kind="configmaps")"),
                    HasSubstr(R"(mandate_cache_objects{kind="configmaps")")));
  EXPECT_EQ(hub_.Stop(), absl::OkStatus());
  EXPECT_EQ(hub_.log().Count("mirror-hub sees from-leaf"), 0);
  // The Lease is in the manager's own cluster.
  leaf_.server().OnLoop([](ServerCore& core) {
    for (const auto& change : core.store().changes()) {
      EXPECT_NE(change.resource.resource, "leases");
    }
  });
}

TEST_F(ManagerClustersTest, AClusterThatIsAwayStopsOnlyItsOwnComponents) {
  RefuseEverythingInLeaf();
  hub_.Run(Components());
  Await("mirror-hub sees from-hub");
  while (!LeafIsUnknown() || !HubIsReady()) std::this_thread::yield();
  EXPECT_THAT(Get("/readyz?verbose"),
              AllOf(HasSubstr("[+]mirror-hub ok"), HasSubstr("[-]mirror-leaf"), HasSubstr(kAway)));
  EXPECT_FALSE(LeafHas("from-hub"));
  ServeInLeaf();
  Await("mirror-leaf sees from-hub");
  while (LeafIsUnknown()) std::this_thread::yield();
  EXPECT_EQ(hub_.Stop(), absl::OkStatus());
}

TEST_F(ManagerClustersTest, NothingListensInTheOtherCluster) {
  {
    const TestManager gone({&kLeaf});
    hub_.options.clusters[0].endpoint = gone.options.cluster.endpoint;
  }
  hub_.Run(Components());
  Await("mirror-hub sees from-hub");
  EXPECT_EQ(hub_.Stop(), absl::OkStatus());
}

TEST_F(ManagerClustersTest, EndsWhenItsCredentialThereMayDoAnything) {
  hub_.options.clusters[0].base =
      StaticToken{std::make_shared<const Secret>(std::string(kAdminToken))};
  hub_.Run(Components());
  const absl::Status result = hub_.Join();
  EXPECT_TRUE(absl::IsFailedPrecondition(result)) << result;
  EXPECT_THAT(std::string(result.message()), HasSubstr("may do anything"));
}

TEST_F(ManagerClustersTest, RejectsClustersAndComponentsThatDoNotMatch) {
  const auto refused = [&] { return std::string(hub_.Create(Components()).status().message()); };
  auto& clusters = hub_.options.clusters;
  clusters[0].name = "home";
  EXPECT_THAT(refused(), HasSubstr("cluster \"home\" is the manager's own"));
  clusters[0].name = "Leaf";
  EXPECT_THAT(refused(), HasSubstr("\"Leaf\" cannot name a cluster: "));
  clusters[0].name = "other";
  EXPECT_THAT(refused(),
              HasSubstr("component mirror-leaf is of cluster \"leaf\", which the manager "
                        "does not have; add it to ManagerOptions::clusters"));
  clusters[0].name = "leaf";
  clusters.push_back(clusters[0]);
  EXPECT_THAT(refused(), HasSubstr("cluster \"leaf\" is given twice"));
  clusters.pop_back();
  std::vector<ComponentSpec> twice = Components();
  twice[0].mandate = &kHub;
  EXPECT_THAT(std::string(hub_.Create(std::move(twice)).status().message()),
              HasSubstr("component mirror-hub is given twice"));
}

}  // namespace
}  // namespace mandate
