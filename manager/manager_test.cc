#include "manager/manager.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "manager/controller/builder.h"
#include "manager/core/clock.h"
#include "manager/core/log.h"
#include "manager/core/status_macros.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/testing_base.h"
#include "testing/apiserver/api_server.h"

namespace mandate {
namespace {

using apiserver::ApiServer;
using apiserver::GroupResource;
using apiserver::ServerCore;

constexpr std::string_view kReads[] = {"list", "watch"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kConfigMaps[] = {"configmaps"};
constexpr std::string_view kRecords[] = {"create", "patch"};
constexpr std::string_view kEventsGroup[] = {"events.k8s.io"};
constexpr std::string_view kEvents[] = {"events"};
constexpr rbac::MandateRule kKeeperRules[] = {
    {{kReads, kCore, kConfigMaps, {}, {}}, "", false},
    {{kRecords, kEventsGroup, kEvents, {}, {}}, "", false}};
constexpr rbac::Mandate kKeeper = {"keeper", kKeeperRules};

// Has nothing to do.
constexpr rbac::Mandate kIdle = {"idle", {}};

constexpr std::string_view kHold[] = {"get", "update"};
constexpr std::string_view kCoordination[] = {"coordination.k8s.io"};
constexpr std::string_view kLeases[] = {"leases"};
constexpr rbac::MandateRule kBaseRules[] = {
    {{kHold, kCoordination, kLeases, {}, {}}, "default", false}};
constexpr rbac::Mandate kBase = {"base", kBaseRules};

// What a reconciler does, and whether it has begun.
struct Work {
  Latch begun;
  Latch may_end;
  bool obeys = true;  // whether it ends when it is asked to
};

class Worker : public Reconciler {
 public:
  explicit Worker(Work& work) : work_(work) {}

  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request&) override {
    const std::stop_callback on_stop(context.stop, [this] {
      if (work_.obeys) work_.may_end.Set();
    });
    work_.begun.Set();
    work_.may_end.Wait();
    return Result{};
  }

 private:
  Work& work_;
};

// Waits for a line of the log.
class AwaitedLine : public LogSink {
 public:
  // `also` is set, too, and outlives this.
  explicit AwaitedLine(std::string text, Latch* also = nullptr)
      : text_(std::move(text)), also_(also) {}

  void Write(const LogRecord& record) override {
    if (FormatRecord(record, LogFormat::kText).find(text_) == std::string::npos) return;
    written_.Set();
    if (also_ != nullptr) also_->Set();
  }
  int verbosity() const override { return 0; }
  bool written() const { return written_.IsSet(); }
  void Wait() { written_.Wait(); }

 private:
  const std::string text_;
  Latch* const also_;
  Latch written_;
};

// A Manager with one component that works and another one, on the double over HTTPS.
class ManagerTest : public testing::Test {
 protected:
  void SetUp() override {
    apiserver::ServerOptions serve;
    serve.objects = {
        R"({"apiVersion":"v1","kind":"ServiceAccount",
            "metadata":{"name":"mandate-manager-keeper","namespace":"default"}})",
        R"({"apiVersion":"v1","kind":"ServiceAccount",
            "metadata":{"name":"mandate-manager-idle","namespace":"default"}})",
        R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"default"}})",
        R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease",
            "metadata":{"name":"mandate-manager","namespace":"default"},"spec":{}})",
        R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole",
            "metadata":{"name":"keeper"},"rules":[{"apiGroups":[""],"resources":["configmaps"],
            "verbs":["list","watch"]},{"apiGroups":["events.k8s.io"],"resources":["events"],
            "verbs":["create","patch"]}]})",
        R"({"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRoleBinding",
            "metadata":{"name":"keeper"},"subjects":[{"kind":"ServiceAccount",
            "name":"mandate-manager-keeper","namespace":"default"}],
            "roleRef":{"apiGroup":"rbac.authorization.k8s.io","kind":"ClusterRole",
            "name":"keeper"}})",
    };
    AddBase({"keeper", "idle"}, serve);
    auto server = ApiServer::Create(std::move(serve));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
  }

  // Whatever failed, nothing is left that could not end.
  void TearDown() override {
    work_.may_end.Set();
    stop_.request_stop();
  }

  // A manager at work, whose reconciler has begun.
  void RunUntilBegun() {
    auto manager = NewManager();
    ASSERT_TRUE(manager.ok()) << manager.status();
    manager_ = *std::move(manager);
    runs_ = std::jthread([this] { result_ = manager_->Run(stop_.get_token()); });
    work_.begun.Wait();
  }

  // What Run() says when it is asked to end.
  absl::Status Stop() {
    stop_.request_stop();
    runs_.join();
    return result_;
  }

  absl::StatusOr<std::unique_ptr<Manager>> NewManager(const char* health_address = "0") {
    ManagerOptions options;
    options.cluster.endpoint.server = server_->url();
    options.cluster.endpoint.ca_pem = server_->ca_pem();
    options.cluster.base = StaticToken{std::make_shared<const Secret>(kBaseToken)};
    options.ns = "default";
    options.version = "test";
    options.base_mandate = &kBase;
    options.health_address = health_address;
    options.metrics_address = "0";
    options.graceful_shutdown_timeout = grace_;
    options.bind_tokens_to_secrets = bind_tokens_;
    if (log_ != nullptr) options.log = Logger(log_, Clock::Real());
    return Manager::Create(
        std::move(options),
        {{&kKeeper,
          [this](const Component& component) -> absl::StatusOr<Controllers> {
            events_ = &component.events;
            ASSIGN_OR_RETURN(auto controller, ControllerBuilder(component.runtime)
                                                  .For<corev1::ConfigMap>()
                                                  .Complete(std::make_unique<Worker>(work_)));
            Controllers controllers;
            controllers.push_back(std::move(controller));
            return controllers;
          }},
         {&kIdle, [this](const Component& component) -> absl::StatusOr<Controllers> {
            idle_events_ = &component.events;
            return Controllers();
          }}});
  }

  std::string Holder() {
    std::string holder;
    server_->OnLoop([&](ServerCore& core) {
      const auto lease =
          core.store().Get({"coordination.k8s.io", "leases"}, "default", "mandate-manager");
      if (lease != nullptr) holder = lease->Parse()["spec"]["holderIdentity"].asString();
    });
    return holder;
  }

  std::unique_ptr<ApiServer> server_;
  Work work_;
  absl::Duration grace_ = absl::Seconds(30);
  bool bind_tokens_ = false;
  std::shared_ptr<AwaitedLine> log_;
  EventRecorder* events_ = nullptr;
  EventRecorder* idle_events_ = nullptr;
  std::unique_ptr<Manager> manager_;
  std::stop_source stop_;
  absl::Status result_;
  std::jthread runs_;
};

TEST_F(ManagerTest, WhenAllHasEndedTheLeaseIsGivenBack) {
  ASSERT_NO_FATAL_FAILURE(RunUntilBegun());
  EXPECT_NE(Holder(), "");
  const absl::Status result = Stop();
  EXPECT_TRUE(result.ok()) << result;
  EXPECT_EQ(Holder(), "");
}

TEST_F(ManagerTest, AHealthAddressThatCannotBeServedIsAnError) {
  EXPECT_TRUE(absl::IsInvalidArgument(NewManager("nowhere").status()));
}

TEST_F(ManagerTest, EventsThatWereRecordedAreSentBeforeTheEnd) {
  ASSERT_NO_FATAL_FAILURE(RunUntilBegun());
  server_->OnLoop([](ServerCore& core) {
    core.faults().Add({.verb = "create",
                       .path_prefix = "/apis/events.k8s.io/",
                       .fault = {.delay = absl::Milliseconds(100)}});
  });
  events_->Record({"v1", "ConfigMap", "default", "a", "uid"}, EventType::kNormal, "Kept", "Keep",
                  "to the end");
  const absl::Status result = Stop();
  EXPECT_TRUE(result.ok()) << result;
  size_t events = 0;
  server_->OnLoop([&](ServerCore& core) {
    for (const auto& change : core.store().changes()) {
      if (change.resource.resource == "events") ++events;
    }
  });
  EXPECT_EQ(events, 1u);
}

TEST_F(ManagerTest, AComponentWhoseMandateHasNoEventsRecordsNone) {
  // The guard would refuse them.
  log_ = std::make_shared<AwaitedLine>("Cannot record events");
  ASSERT_NO_FATAL_FAILURE(RunUntilBegun());
  idle_events_->Record({"v1", "ConfigMap", "default", "a", "uid"}, EventType::kNormal, "Kept",
                       "Keep", "by nobody");
  EXPECT_TRUE(Stop().ok());
  EXPECT_FALSE(log_->written());
}

// A grant that is taken away is noticed by the first request that meets it.
TEST_F(ManagerTest, ADeniedRequestHasThePermissionsCheckedAgain) {
  server_->OnLoop([](ServerCore& core) {
    // A rule without a fault counts what it matches.
    core.faults().Add({.verb = "create",
                       .path_prefix = "/apis/authorization.k8s.io/",
                       .except_bearer = kBaseToken});
  });
  const auto wait_for_reviews = [this](size_t count) {
    size_t reviews = 0;
    while (reviews < count) {
      server_->OnLoop([&](ServerCore& core) { reviews = core.faults().struck(); });
    }
  };
  ASSERT_NO_FATAL_FAILURE(RunUntilBegun());
  static constexpr size_t kPermissions = 4;
  wait_for_reviews(kPermissions);
  server_->OnLoop([](ServerCore& core) {
    EXPECT_EQ(core.faults().struck(), kPermissions);
    core.store().Delete({"rbac.authorization.k8s.io", "clusterrolebindings"}, "", "keeper");
  });
  events_->Record({"v1", "ConfigMap", "default", "a", "uid"}, EventType::kNormal, "Kept", "Keep",
                  "so it is");
  wait_for_reviews(kPermissions + 1);
  EXPECT_TRUE(Stop().ok());
}

TEST_F(ManagerTest, WhileAReconcilerRunsTheLeaseIsKept) {
  work_.obeys = false;
  grace_ = absl::Milliseconds(50);
  ASSERT_NO_FATAL_FAILURE(RunUntilBegun());
  const std::string holder = Holder();
  EXPECT_NE(holder, "");
  const absl::Status result = Stop();
  EXPECT_TRUE(absl::IsDeadlineExceeded(result)) << result;
  EXPECT_EQ(Holder(), holder);
}

TEST_F(ManagerTest, ALeaseThatIsLostWhileAReconcilerEndsIsAnError) {
  work_.obeys = false;
  log_ = std::make_shared<AwaitedLine>("Lost the leader lease");
  ASSERT_NO_FATAL_FAILURE(RunUntilBegun());
  const auto events = [this] {
    size_t writes = 0;
    server_->OnLoop([&](ServerCore& core) {
      for (const auto& change : core.store().changes())
        writes += change.resource.resource == "events";
    });
    return writes;
  };
  // The third of the same is sent much later, or at the end.
  for (size_t sent = 1; sent <= 3; ++sent) {
    events_->Record({"v1", "ConfigMap", "default", "a", "uid"}, EventType::kNormal, "Kept", "Keep",
                    "so it is");
    while (events() < std::min<size_t>(sent, 2)) {
    }
  }
  stop_.request_stop();
  server_->OnLoop([](ServerCore& core) {
    const GroupResource leases{"coordination.k8s.io", "leases"};
    Json::Value lease = core.store().Get(leases, "default", "mandate-manager")->Parse();
    lease["spec"]["holderIdentity"] = "another";
    core.store().Put(leases, std::move(lease));
  });
  log_->Wait();
  work_.may_end.Set();
  const absl::Status result = Stop();
  EXPECT_TRUE(absl::IsAborted(result)) << result;
  EXPECT_EQ(Holder(), "another");
  EXPECT_EQ(events(), 2u) << "nothing is written after the loss";
}

// The Secret that it needs is absent: the reconciler must not begin.
TEST_F(ManagerTest, ATokenIsBoundToTheSecretOfItsComponent) {
  bind_tokens_ = true;
  log_ = std::make_shared<AwaitedLine>(R"(secrets \"mandate-manager-keeper\" not found)",
                                       &work_.begun);
  ASSERT_NO_FATAL_FAILURE(RunUntilBegun());
  EXPECT_TRUE(log_->written());
  EXPECT_TRUE(Stop().ok());
}

}  // namespace
}  // namespace mandate
