// B13: the smallest manager with one webhook, which validates ConfigMaps. It runs until it is
// killed.
#include <cstdio>
#include <memory>
#include <stop_token>
#include <string>

#include "hack/bench/ours/smallest_manager.h"
#include "manager/admission/typed.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/manager.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate::bench {
namespace {

using corev1::ConfigMap;

constexpr char kTier[] = "tier";
constexpr rbac::DeclaredWebhook kDeclared[] = {{"/validate--v1-configmap", false}};
constexpr rbac::Mandate kBench = {"bench", {}, kDeclared};

// Denies a ConfigMap whose data do not have the tier of its label.
class SameTier : public Validator<ConfigMap> {
 public:
  absl::Status ValidateCreate(AdmissionCall&, const ConfigMap& object) override {
    const auto label = object.metadata().labels().find(kTier);
    if (label == object.metadata().labels().end()) {
      return absl::InvalidArgumentError("metadata.labels[tier]: is required");
    }
    const auto data = object.data().find(kTier);
    if (data == object.data().end() || data->second != label->second) {
      return absl::InvalidArgumentError(
          StrCat("data[tier]: must be ", label->second, ", as the label"));
    }
    return absl::OkStatus();
  }
};

absl::StatusOr<Webhooks> MakeWebhooks(const Component&) {
  Webhooks webhooks;
  webhooks.hooks.push_back(ValidatingWebhook<ConfigMap>(std::make_shared<SameTier>()));
  return webhooks;
}

absl::Status Run(const std::string& kubeconfig, const std::string& address,
                 const std::string& certificate_folder) {
  ASSIGN_OR_RETURN(ManagerOptions options, SmallestManager(kubeconfig));
  options.webhook_address = address;
  ASSIGN_OR_RETURN(options.webhook_certificate,
                   ServingCertificate::Create({.dir = certificate_folder}));
  ASSIGN_OR_RETURN(
      auto manager,
      Manager::Create(std::move(options), {{.mandate = &kBench, .make_webhooks = MakeWebhooks}}));
  return manager->Run(std::stop_token());
}

}  // namespace
}  // namespace mandate::bench

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("usage: webhook KUBECONFIG HOST:PORT CERTIFICATE_FOLDER\n", stderr);
    return 2;
  }
  const absl::Status status = mandate::bench::Run(argv[1], argv[2], argv[3]);
  if (!status.ok()) std::fprintf(stderr, "webhook: %s\n", std::string(status.message()).c_str());
  return status.ok() ? 0 : 1;
}
