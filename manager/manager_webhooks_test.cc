// The webhooks of a Manager's components.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "manager/admission/typed.h"
#include "manager/core/executor.h"
#include "manager/core/strings.h"
#include "manager/manager.h"
#include "manager/object/kinds/core_v1.h"
#include "manager/serving/testing/http_client.h"
#include "manager/serving/testing/tls_client.h"
#include "manager/testing_manager.h"

namespace mandate {
namespace {

using apiserver::ServerCore;
using corev1::ConfigMap;
using testing::HasSubstr;
using testing::Not;

constexpr std::string_view kReads[] = {"list", "watch"};
constexpr std::string_view kCore[] = {""};
constexpr std::string_view kConfigMaps[] = {"configmaps"};
constexpr rbac::MandateRule kRules[] = {{{kReads, kCore, kConfigMaps, {}, {}}, "", false}};
constexpr char kPath[] = "/validate--v1-configmap";
constexpr rbac::DeclaredWebhook kWebhooks[] = {{kPath, false}};
constexpr rbac::Mandate kKeeper = {"keeper", kRules, kWebhooks};
constexpr rbac::Mandate kIdle = {"idle", {}};

// Denies ConfigMaps in a namespace without a ConfigMap "open".
class OpenNamespaces : public Validator<ConfigMap> {
 public:
  explicit OpenNamespaces(const CacheView& cache) : cache_(cache) {}
  absl::Status ValidateCreate(AdmissionCall& call, const ConfigMap& object) override {
    const auto open =
        cache_.Get<ConfigMap>(call.context(), {object.metadata().namespace_(), "open"});
    return absl::IsNotFound(open.status()) ? absl::PermissionDeniedError("the namespace is closed")
                                           : open.status();
  }

 private:
  const CacheView& cache_;
};

absl::StatusOr<Webhooks> MakeWebhooks(const Component& component) {
  Webhooks webhooks;
  webhooks.demands.push_back(component.cache().Demand({KindOf<ConfigMap>::value, "", ""}, nullptr));
  webhooks.hooks.push_back(
      ValidatingWebhook<ConfigMap>(std::make_shared<OpenNamespaces>(component.cache())));
  return webhooks;
}

std::string Review(std::string_view ns, std::string_view user = "ann") {
  return StrCat(R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{)",
                R"("uid":"u","operation":"CREATE","userInfo":{"username":")", user,
                R"("},"object":{"metadata":{"name":"a","namespace":")", ns, R"("}}}})");
}

class ManagerWebhooksTest : public testing::Test {
 protected:
  ManagerWebhooksTest() {
    test_.options.webhook_address = "127.0.0.1:0";
    test_.options.webhook_certificate = ServingCertificate::Create({}).value();
    test_.options.webhook_drain_duration = absl::Milliseconds(10);
  }

  static std::string Address(AwaitedLog& log, std::string_view what = "Serving webhooks") {
    const std::string line = log.Await(what);
    const size_t at = line.find("127.0.0.1:");
    return line.substr(at, line.find_first_not_of("0123456789.:", at) - at);
  }
  // Asks until the webhooks are ready.
  std::string Answer(const std::string& address, std::string_view ns) {
    TlsAnswer answer;
    do {
      answer = PostByTls(address, std::string(kPath) + "?timeout=10s", Review(ns));
    } while (answer.code == 503);
    EXPECT_EQ(answer.code, 200u);
    return answer.body;
  }

  TestManager test_{{&kKeeper, &kIdle}};
};

TEST_F(ManagerWebhooksTest, AnswerWithTheirComponentsViewOfTheCache) {
  test_.server().OnLoop([](ServerCore& core) {
    ASSERT_TRUE(core.Load(R"({"apiVersion":"v1","kind":"ConfigMap",
                              "metadata":{"name":"open","namespace":"default"}})")
                    .ok());
  });
  test_.Run({{.mandate = &kKeeper, .make_webhooks = MakeWebhooks}});
  const std::string address = Address(test_.log());
  EXPECT_THAT(Answer(address, "default"), HasSubstr(R"("uid":"u","allowed":true)"));
  EXPECT_THAT(Answer(address, "other"), HasSubstr("the namespace is closed"));
  EXPECT_EQ(test_.Stop(), absl::OkStatus());
}

TEST_F(ManagerWebhooksTest, AreReadyIfTheirDemandsGotTheTokenFirst) {
  test_.options.health_address = "127.0.0.1:0";
  const auto slow = [this](const Component& component) {
    auto webhooks = MakeWebhooks(component);
    test_.log().Await("Demand changed its state");
    return webhooks;
  };
  test_.Run({{.mandate = &kKeeper, .make_webhooks = slow}});
  const std::string address = Address(test_.log(), "Serving health probes");
  HttpAnswer ready;
  do {
    ready = GetByHttp(address, "/readyz?verbose");
    EXPECT_THAT(ready.body, Not(HasSubstr("no token yet")));
  } while (ready.code != 200 && !HasFailure());
  EXPECT_EQ(test_.Stop(), absl::OkStatus());
}

// Every thread of the component's handlers waits; what the components share is not taken.
TEST_F(ManagerWebhooksTest, AStuckComponentDelaysNoOther) {
  static constexpr rbac::DeclaredWebhook kSlowPath[] = {{"/stuck", false}};
  static constexpr rbac::Mandate kStuck = {"stuck", {}, kSlowPath};
  TestManager test({&kKeeper, &kStuck});
  test.options.webhook_address = "127.0.0.1:0";
  test.options.webhook_certificate = ServingCertificate::Create({}).value();
  test.options.webhook_drain_duration = absl::Milliseconds(10);
  Latch release;
  std::atomic<int> waiting = 0;
  const auto stuck = [&](const Component&) -> absl::StatusOr<Webhooks> {
    Webhooks webhooks;
    webhooks.hooks.push_back({.path = "/stuck", .handler = [&](AdmissionCall& call) {
                                ++waiting;
                                release.Wait();
                                SetVerdict(absl::OkStatus(), call);
                              }});
    return webhooks;
  };
  test.Run({{.mandate = &kKeeper, .make_webhooks = MakeWebhooks},
            {.mandate = &kStuck, .make_webhooks = stuck}});
  const std::string address = Address(test.log());
  const int threads = test.options.webhook_limits.threads;
  std::vector<std::jthread> clients;
  for (int i = 0; i < 2 * threads; ++i) {
    // One user alone would not get all threads.
    clients.emplace_back([&, user = StrCat("user-", i)] {
      EXPECT_EQ(PostByTls(address, "/stuck?timeout=30s", Review("default", user)).code, 200u);
    });
  }
  while (waiting < threads) std::this_thread::yield();
  EXPECT_THAT(Answer(address, "other"), HasSubstr("the namespace is closed"));
  EXPECT_EQ(waiting, threads) << "the others wait for a thread of their own component";
  release.Set();
  clients.clear();
  EXPECT_EQ(test.Stop(), absl::OkStatus());
}

// The readiness of the pod is that of a Service, which all webhooks share.
TEST_F(ManagerWebhooksTest, AreReadyBesideAComponentThatLacksPermissions) {
  static constexpr rbac::DeclaredWebhook kLackingPath[] = {{"/lacking", false}};
  static constexpr rbac::Mandate kLacking = {"lacking", kRules, kLackingPath};
  test_.options.health_address = "127.0.0.1:0";
  const auto lacking = [](const Component& component) -> absl::StatusOr<Webhooks> {
    Webhooks webhooks;
    webhooks.demands.push_back(
        component.cache().Demand({KindOf<ConfigMap>::value, "", ""}, nullptr));
    webhooks.hooks.push_back({.path = "/lacking", .handler = [](AdmissionCall& call) {
                                SetVerdict(absl::OkStatus(), call);
                              }});
    return webhooks;
  };
  test_.Run({{.mandate = &kKeeper, .make_webhooks = MakeWebhooks},
             {.mandate = &kLacking, .make_webhooks = lacking}});
  const std::string address = Address(test_.log());
  const std::string health = Address(test_.log(), "Serving health probes");
  HttpAnswer ready;
  do {
    ready = GetByHttp(health, "/readyz/webhooks");
  } while (ready.code != 200 && !HasFailure());
  EXPECT_EQ(GetByHttp(health, "/readyz").code, 500u);
  EXPECT_THAT(Answer(address, "other"), HasSubstr("the namespace is closed"));
  EXPECT_EQ(PostByTls(address, "/lacking", Review("default")).code, 503u);
  EXPECT_EQ(test_.Stop(), absl::OkStatus());
}

TEST_F(ManagerWebhooksTest, ServeOnAStandby) {
  test_.Run({{.mandate = &kIdle}});
  test_.log().Await("Became leader");
  const std::string holder = test_.Holder();
  ManagerOptions standby = test_.options;
  ++standby.seed;  // another holder of the Lease
  const auto log = std::make_shared<AwaitedLog>();
  standby.log = Logger(log, Clock::Real());
  auto second = Manager::Create(standby, {{.mandate = &kKeeper, .make_webhooks = MakeWebhooks}});
  ASSERT_TRUE(second.ok()) << second.status();
  std::stop_source stop;
  std::jthread runs([&] { EXPECT_EQ((*second)->Run(stop.get_token()), absl::OkStatus()); });
  EXPECT_THAT(Answer(Address(*log), "other"), HasSubstr("the namespace is closed"));
  EXPECT_EQ(test_.Holder(), holder);
  stop.request_stop();
}

TEST_F(ManagerWebhooksTest, RejectTwoComponentsWithOnePath) {
  const auto made = test_.Create({{.mandate = &kKeeper, .make_webhooks = MakeWebhooks},
                                  {.mandate = &kIdle, .make_webhooks = MakeWebhooks}});
  EXPECT_TRUE(absl::IsInvalidArgument(made.status())) << made.status();
  EXPECT_THAT(std::string(made.status().message()), HasSubstr(kPath));
}

}  // namespace
}  // namespace mandate
