#include "controllers/certificates/make.h"

#include "manager/cache/cache_view.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::certificates {
namespace {

using corev1::Secret;

// Serves the certificate of the Secret. Loop thread only.
class ServingSink : public DemandSink {
 public:
  ServingSink(std::shared_ptr<ServingCertificate> serving, Logger log)
      : serving_(std::move(serving)), log_(std::move(log)) {}

  void OnEvent(const ObjectEvent& event) override {
    // A deleted Secret's certificate is still valid.
    if (event.type == ObjectEvent::Type::kDelete) return;
    const absl::StatusOr<Secret> secret = event.object->Decode<Secret>();
    absl::Status status = secret.status();
    if (status.ok()) {
      const auto at = [&](const char* key) {
        const auto found = secret->data().find(key);
        return found == secret->data().end() ? std::string() : found->second;
      };
      if (at(kServing).empty()) return;  // it is not filled yet
      status = serving_->Set(at(kServing), mandate::Secret(at(kServingKey)));
    }
    if (status.ok()) return;
    log_.Error("The Secret's certificate cannot be served", {{"reason", status}});
  }
  void OnState(const DemandStatus&) override {}

 private:
  const std::shared_ptr<ServingCertificate> serving_;
  const Logger log_;
};

absl::Status CheckMayWrite(const rbac::Mandate& mandate, const KindInfo& kind,
                           const std::vector<PublishedConfiguration>& published) {
  for (const auto& [name, webhooks] : published) {
    rbac::Attributes request;
    request.verb = "update";
    request.api_group = kind.group;
    request.resource = kind.plural;
    request.name = name;
    if (rbac::PermitsRequest(mandate, request)) continue;
    return absl::InvalidArgumentError(
        StrCat("component ", mandate.component, " may not write the caBundle of ", kind.plural, " ",
               name, "; write // +mandate:rbac:groups=", kind.group, ",resources=", kind.plural,
               ",resourceNames=", name,
               ",verbs=list;watch;update,fieldSelector=metadata.name into its source, below a "
               "+mandate:justify, and run make manifests"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckMayPublish(const rbac::Mandate& mandate, const CertificateOptions& options) {
  using admissionregistrationv1::MutatingWebhookConfiguration;
  using admissionregistrationv1::ValidatingWebhookConfiguration;
  RETURN_IF_ERROR(
      CheckMayWrite(mandate, KindOf<ValidatingWebhookConfiguration>::value, options.validating));
  return CheckMayWrite(mandate, KindOf<MutatingWebhookConfiguration>::value, options.mutating);
}

Webhooks MakeServing(const Component& component, const CertificateOptions& options,
                     std::shared_ptr<ServingCertificate> serving) {
  Webhooks webhooks;
  webhooks.demands.push_back(component.cache().Demand(
      {KindOf<Secret>::value, std::string(component.ns), options.secret},
      std::make_shared<ServingSink>(
          std::move(serving),
          component.controller_context.log.With("component", std::string(component.name())))));
  return webhooks;
}

}  // namespace mandate::certificates
