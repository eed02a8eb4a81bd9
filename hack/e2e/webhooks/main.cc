// A manager with webhooks that are quick, slow, hang or throw, for the checks of hack/e2e/run. It
// has base's permissions alone: its components read nothing.
//
// usage: webhooks KUBECONFIG HOST:PORT FOLDER     the folder has tls.crt and tls.key
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <stop_token>
#include <thread>

#include "absl/synchronization/notification.h"
#include "hack/e2e/webhooks/parcel_converter.h"
#include "manager/admission/typed.h"
#include "manager/core/log.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/kubeconfig/kubeconfig.h"
#include "manager/manager.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate {
namespace {

using corev1::ConfigMap;

constexpr rbac::Mandate kBase = {"base", {}};
constexpr rbac::DeclaredWebhook kQuickPaths[] = {{"/validate--v1-configmap", false},
                                                 {"/mutate--v1-configmap", true}};
constexpr rbac::DeclaredWebhook kSlowPaths[] = {{"/slow", false}};
constexpr rbac::DeclaredWebhook kHangingPaths[] = {{"/hang", false}};
constexpr rbac::DeclaredWebhook kThrowingPaths[] = {{"/throw", false}};
constexpr rbac::DeclaredWebhook kProxyPaths[] = {{"/validate--v1-serviceproxyoptions", false}};
constexpr rbac::Mandate kQuick = {"quick", {}, kQuickPaths};
constexpr rbac::Mandate kSlow = {"slow", {}, kSlowPaths};
constexpr rbac::Mandate kHanging = {"hanging", {}, kHangingPaths};
constexpr rbac::Mandate kThrowing = {"throwing", {}, kThrowingPaths};
constexpr rbac::Mandate kProxy = {"proxy", {}, kProxyPaths};
constexpr rbac::Mandate kParcels = {"parcels", {}};

constexpr absl::Duration kSlowTime = absl::Milliseconds(300);

// A validator that rejects ConfigMaps with the key "deny" in their data, and a defaulter.
class Quick : public Validator<ConfigMap>, public Defaulter<ConfigMap> {
 public:
  absl::Status ValidateCreate(AdmissionCall& call, const ConfigMap& object) override {
    call.Warn("seen");
    return object.data().contains("deny") ? absl::InvalidArgumentError("data: deny is not allowed")
                                          : absl::OkStatus();
  }
  absl::Status Default(AdmissionCall&, ConfigMap& object) override {
    (*object.mutable_data())["defaulted"] = "yes";
    return absl::OkStatus();
  }
};

class NoPath : public Validator<corev1::ServiceProxyOptions> {
 public:
  absl::Status ValidateConnect(AdmissionCall&,
                               const corev1::ServiceProxyOptions& options) override {
    return absl::PermissionDeniedError(StrCat("no proxy to ", options.path()));
  }
};

std::function<absl::StatusOr<Webhooks>(const Component&)> Serve(std::vector<Webhook> hooks) {
  return [hooks](const Component&) -> absl::StatusOr<Webhooks> { return Webhooks{hooks}; };
}

std::vector<ComponentSpec> Components() {
  const auto quick = std::make_shared<Quick>();
  const auto slow = [](AdmissionCall& call) {
    absl::Notification().WaitForNotificationWithTimeout(kSlowTime);
    SetVerdict(absl::OkStatus(), call);
  };
  // Ignores the deadline and the stop.
  const auto hang = [](AdmissionCall&) {
    static absl::Notification never;
    never.WaitForNotification();
  };
  const auto throws = [](AdmissionCall&) { throw std::runtime_error("thrown by the handler"); };
  Conversions conversions;
  conversions.Add(std::make_shared<ParcelConverter>());
  return {
      {&kQuick,
       {},
       Serve({ValidatingWebhook<ConfigMap>(quick), DefaultingWebhook<ConfigMap>(quick)})},
      {&kSlow, {}, Serve({{"/slow", slow}})},
      {&kHanging, {}, Serve({{"/hang", hang}})},
      {&kThrowing, {}, Serve({{"/throw", throws}})},
      {&kProxy,
       {},
       Serve({ValidatingWebhook<corev1::ServiceProxyOptions>(std::make_shared<NoPath>())})},
      {&kParcels, {}, Serve({ConversionWebhook(std::move(conversions))})},
  };
}

absl::Status Run(char** argv, std::stop_token stop) {
  ManagerOptions options;
  ASSIGN_OR_RETURN(options.cluster, LoadKubeconfig({argv[1]}));
  options.ns = "mandate-system";
  options.version = "testing";
  options.base_mandate = &kBase;
  options.identity_mode = IdentityMode::kSingle;
  options.leader_elect = false;
  options.health_address = "0";
  options.metrics_address = "127.0.0.1:0";
  options.webhook_address = argv[2];
  options.graceful_shutdown_timeout = absl::Seconds(7);
  options.log = Logger(StderrLogSink(LogFormat::kText, 0), Clock::Real());
  ASSIGN_OR_RETURN(options.webhook_certificate,
                   ServingCertificate::Create({.dir = argv[3], .log = options.log}));
  ASSIGN_OR_RETURN(auto manager, Manager::Create(std::move(options), Components()));
  const absl::Status status = manager->Run(stop);
  if (!status.ok()) manager.release();  // a thread still runs: the process ends with it
  return status;
}

}  // namespace
}  // namespace mandate

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  sigset_t term;
  sigemptyset(&term);
  sigaddset(&term, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &term, nullptr);
  std::stop_source stop;
  std::thread([stop, term]() mutable {
    int signal = 0;
    sigwait(&term, &signal);
    stop.request_stop();
  }).detach();
  const absl::Status status = mandate::Run(argv, stop.get_token());
  if (!status.ok()) std::fprintf(stderr, "webhooks: %s\n", std::string(status.message()).c_str());
  std::_Exit(status.ok() ? 0 : 1);
}
