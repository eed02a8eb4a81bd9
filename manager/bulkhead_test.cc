// One component's trouble stays its own (invariant 5): a row for each thing that components share.
// In each row component "noisy" is in trouble that does not end before the row is over, and
// component "quiet" has its work done meanwhile: a shared thing that is not split makes the row
// hang.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "manager/controller/builder.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/manager.h"
#include "manager/object/kinds/coordination_v1.h"
#include "manager/object/kinds/core_v1.h"
#include "testing/apiserver/api_server.h"
#include "testing/apiserver/errors.h"

namespace mandate {
namespace {

using apiserver::ApiServer;
using apiserver::kAdminToken;
using apiserver::ServerCore;

constexpr std::string_view kReads[] = {"list", "watch"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kCoordination[] = {"coordination.k8s.io"};
constexpr std::string_view kConfigMaps[] = {"configmaps"};
constexpr std::string_view kLeases[] = {"leases"};
constexpr std::string_view kRecords[] = {"create", "patch"};
constexpr std::string_view kEventsGroup[] = {"events.k8s.io"};
constexpr std::string_view kEvents[] = {"events"};
constexpr rbac::MandateRule kNoisyRules[] = {
    {{kReads, kCore, kConfigMaps, {}, {}}, "", false},
    {{kRecords, kEventsGroup, kEvents, {}, {}}, "", false}};
constexpr rbac::MandateRule kQuietRules[] = {
    {{kReads, kCoordination, kLeases, {}, {}}, "", false},
    {{kRecords, kEventsGroup, kEvents, {}, {}}, "", false}};
constexpr rbac::Mandate kNoisy = {"noisy", kNoisyRules};
constexpr rbac::Mandate kQuiet = {"quiet", kQuietRules};
constexpr rbac::Mandate kBase = {"base", {}};

// Waits until a demand is live.
class SyncedSink : public DemandSink {
 public:
  void OnEvent(const ObjectEvent&) override {}
  void OnState(const DemandStatus& status) override {
    if (status.state == DemandState::kSynced) synced.Set();
  }

  Latch synced;
};

class FunctionReconciler : public Reconciler {
 public:
  using Function = std::function<void(const ObjectKey&)>;
  explicit FunctionReconciler(Function function) : function_(std::move(function)) {}
  absl::StatusOr<Result> Reconcile(const CallContext&, const Request& request) override {
    function_(request.key);
    return Result{};
  }

 private:
  const Function function_;
};

// A Manager with both components, on the double over HTTPS.
class BulkheadTest : public testing::Test {
 protected:
  static constexpr int kAtOnce = 8;  // reconcilers of the noisy one

  void SetUp() override {
    apiserver::ServerOptions serve;
    for (const auto& [name, group, resource] :
         {std::tuple("noisy", "", "configmaps"),
          std::tuple("quiet", "coordination.k8s.io", "leases")}) {
      const std::string account = StrCat("mandate-manager-", name);
      serve.objects.push_back(StrCat(
          R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"namespace":"default","name":")",
          account, R"("}})"));
      serve.objects.push_back(StrCat(
          R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":")",
          name, R"("},"rules":[{"apiGroups":[")", group, R"("],"resources":[")", resource,
          R"("],"verbs":["list","watch"]},{"apiGroups":["events.k8s.io"],"resources":["events"],)"
          R"("verbs":["create","patch"]}]})"));
      serve.objects.push_back(StrCat(
          R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding","metadata":)"
          R"({"name":")",
          name,
          R"("},"subjects":[{"kind":"ServiceAccount","namespace":"default",)"
          R"("name":")",
          account,
          R"("}],"roleRef":{"apiGroup":"rbac.authorization.k8s.io",)"
          R"("kind":"ClusterRole","name":")",
          name, R"("}})"));
    }
    auto server = ApiServer::Create(std::move(serve));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  void TearDown() override {
    trouble_over_.Set();
    stop_.request_stop();
    if (runs_.joinable()) runs_.join();
  }

  void Run() {
    ManagerOptions options;
    options.cluster.endpoint.server = server_->url();
    options.cluster.endpoint.ca_pem = server_->ca_pem();
    options.cluster.base = StaticToken{std::make_shared<const Secret>(kAdminToken)};
    options.ns = "default";
    options.version = "test";
    options.base_mandate = &kBase;
    options.leader_elect = false;
    options.health_address = "0";
    options.metrics_address = "0";
    options.max_watch_bytes = max_watch_bytes_;
    options.transport = transport_;
    auto manager = Manager::Create(
        std::move(options),
        {{&kNoisy,
          [this](const Component& component) -> absl::StatusOr<Controllers> {
            noisy_events_ = &component.events;
            noisy_view_ = &component.cache();
            metrics_ = &component.runtime.metrics;
            ControllerBuilder builder(component.runtime);
            builder.Named("noisy").With({.max_concurrent_reconciles = kAtOnce});
            builder.Watches<corev1::ConfigMap>([this](const ObjectEvent& event) {
              if (map_) map_();
              return std::vector<Request>{{event.object->Key()}};
            });
            return One(
                builder.Complete(std::make_unique<FunctionReconciler>([this](const ObjectKey&) {
                  if (reconcile_) reconcile_();
                })));
          }},
         {&kQuiet, [this](const Component& component) -> absl::StatusOr<Controllers> {
            quiet_events_ = &component.events;
            quiet_view_ = &component.cache();
            ControllerBuilder builder(component.runtime);
            builder.For<coordinationv1::Lease>();
            return One(
                builder.Complete(std::make_unique<FunctionReconciler>([this](const ObjectKey& key) {
                  MutexLock lock(mutex_);
                  seen_.insert(key.name);
                  changed_.NotifyAll();
                })));
          }}});
    ASSERT_TRUE(manager.ok()) << manager.status();
    manager_ = *std::move(manager);
    runs_ = std::jthread([this] { EXPECT_EQ(manager_->Run(stop_.get_token()), absl::OkStatus()); });
  }

  static absl::StatusOr<Controllers> One(absl::StatusOr<std::unique_ptr<Controller>> controller) {
    if (!controller.ok()) return controller.status();
    Controllers controllers;
    controllers.push_back(*std::move(controller));
    return controllers;
  }

  void Load(const std::string& json) {
    server_->OnLoop([&](ServerCore& core) { ASSERT_EQ(core.Load(json), absl::OkStatus()); });
  }
  void LoadConfigMap(const std::string& name, size_t bytes = 1) {
    Load(StrCat(
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"namespace":"default","name":")", name,
        R"("},"data":{"a":")", std::string(bytes, 'x'), R"("}})"));
  }

  // Watches whose kind was larger than may be held.
  double Overflows() {
    double sum = 0;
    for (const auto& family : metrics_->registry().Collect()) {
      if (family.name != "mandate_cache_overflows_total") continue;
      for (const auto& metric : family.metric) sum += metric.counter.value;
    }
    return sum;
  }

  // The quiet component reconciles objects that come one after the other, each for its own event.
  void QuietWorks() {
    for (int i = 0; i < 20; ++i) {
      const std::string name = StrCat("probe-", ++probes_);
      Load(
          StrCat(R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"namespace":)"
                 R"("default","name":")",
                 name, R"("},"spec":{}})"));
      MutexLock lock(mutex_);
      while (!seen_.contains(name)) changed_.Wait(mutex_);
    }
  }

  Latch began_, arrived_;
  std::atomic<int> inside_ = 0;
  std::unique_ptr<ApiServer> server_;
  size_t max_watch_bytes_ = size_t{1} << 30;
  HttpOptions transport_;
  Latch trouble_over_;
  std::function<void()> map_, reconcile_;  // of the noisy one
  Metrics* metrics_ = nullptr;
  EventRecorder* noisy_events_ = nullptr;
  EventRecorder* quiet_events_ = nullptr;
  CacheView* noisy_view_ = nullptr;
  CacheView* quiet_view_ = nullptr;
  int probes_ = 0;
  Mutex mutex_;
  CondVar changed_;
  std::set<std::string> seen_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<Manager> manager_;
  std::stop_source stop_;
  std::jthread runs_;
};

TEST_F(BulkheadTest, WithoutTrouble) {
  ASSERT_NO_FATAL_FAILURE(Run());
  QuietWorks();
}

TEST_F(BulkheadTest, AMapSleeps) {
  map_ = [this] {
    began_.Set();
    trouble_over_.Wait();
  };
  ASSERT_NO_FATAL_FAILURE(Run());
  LoadConfigMap("a");
  began_.Wait();
  for (int i = 0; i < 100; ++i) LoadConfigMap(StrCat("behind-", i));
  QuietWorks();
}

TEST_F(BulkheadTest, ReconcilersHang) {
  reconcile_ = [this] {
    if (++inside_ == kAtOnce) began_.Set();
    trouble_over_.Wait();
  };
  ASSERT_NO_FATAL_FAILURE(Run());
  for (int i = 0; i < 4 * kAtOnce; ++i) LoadConfigMap(StrCat("a", i));
  began_.Wait();
  QuietWorks();
}

TEST_F(BulkheadTest, AKindIsHuge) {
  max_watch_bytes_ = size_t{1} << 20;
  for (int i = 0; i < 8; ++i) LoadConfigMap(StrCat("huge-", i), 900'000);
  ASSERT_NO_FATAL_FAILURE(Run());
  // It has met its bound, and is asked for again and again.
  while (Overflows() == 0) QuietWorks();
  QuietWorks();
}

// Six places for watches. The noisy one asks for fifty, and takes what is its share; the quiet one
// still gets another one, and all its calls.
TEST_F(BulkheadTest, WatchesFillTheirBudget) {
  transport_.streams_per_connection = 4;
  transport_.max_stream_connections = 2;
  ASSERT_NO_FATAL_FAILURE(Run());
  QuietWorks();
  std::vector<std::unique_ptr<DemandHandle>> demands;
  for (int i = 0; i < 50; ++i) {
    demands.push_back(
        noisy_view_->Demand({KindOf<corev1::ConfigMap>::value, StrCat("ns-", i), ""}, nullptr));
  }
  size_t watches = 0;
  while (watches < 4) {
    server_->OnLoop([&](ServerCore& core) { watches = core.stats().watches; });
  }
  const auto sink = std::make_shared<SyncedSink>();
  const auto demand =
      quiet_view_->Demand({KindOf<coordinationv1::Lease>::value, "kube-system", ""}, sink);
  sink->synced.Wait();
  QuietWorks();
}

TEST_F(BulkheadTest, AWebhookRefusesItsEvents) {
  server_->OnLoop([&](ServerCore& core) {
    core.store().SubscribeAll([this, count = 0](const apiserver::Change& change) mutable {
      if (change.resource.resource == "events" && ++count == 2) arrived_.Set();
    });
    core.faults().Add({.verb = "create",
                       .path_prefix = "/apis/events.k8s.io/v1/namespaces/kube-public/",
                       .fault = {.refuse = apiserver::InternalError("failed calling webhook")}});
  });
  ASSERT_NO_FATAL_FAILURE(Run());
  const auto record = [](EventRecorder& recorder, const std::string& ns, int i) {
    recorder.Eventf({"v1", "ConfigMap", ns, StrCat("a", i), StrCat("uid-", i)}, EventType::kNormal,
                    "Tried", "Try", "so it is");
  };
  for (int i = 0; i < 500; ++i) record(*noisy_events_, "kube-public", i);
  QuietWorks();
  // The quiet one's own event arrives, and so does another one of the noisy one.
  record(*quiet_events_, "default", 1);
  record(*noisy_events_, "default", 2);
  arrived_.Wait();
}

}  // namespace
}  // namespace mandate
