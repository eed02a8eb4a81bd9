// Makes the component that keeps webhooks' certificates, for any mandate. Its markers are those of
// webhook_certificates.h, with the names of the program's Secret and configurations.
//
//   {certificates::MakeComponent<kWebhookCertificates>(std::move(settings))}
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "controllers/certificates/reconciler.h"
#include "controllers/certificates/settings.h"
#include "controllers/certificates/write_health.h"
#include "manager/admission/webhook.h"
#include "manager/client/client.h"
#include "manager/component.h"
#include "manager/controller/controller_builder.h"
#include "manager/core/status_macros.h"
#include "manager/serving/serving_certificate.h"

namespace mandate::certificates {

// OK if the mandate may write each configuration. kInvalidArgument names one that it may not write,
// and the marker that is missing: without it no certificate would be issued.
absl::Status CheckMayPublish(const rbac::Mandate& mandate, const CertificateOptions& options);

// The controller of the Secret and the configurations. A mandate without mutating, or validating,
// configurations has none of them.
template <const rbac::Mandate& kMandate>
absl::StatusOr<std::unique_ptr<Controller>> MakeController(const Component& component,
                                                           const CertificateOptions& options) {
  using admissionregistrationv1::MutatingWebhookConfiguration;
  using admissionregistrationv1::ValidatingWebhookConfiguration;
  RETURN_IF_ERROR(CheckLifetimes(options.lifetimes));
  RETURN_IF_ERROR(CheckMayPublish(kMandate, options));
  ASSIGN_OR_RETURN(auto client, Client<kMandate>::Create(component.client));
  const auto to_secret = [key = ObjectKey{std::string(component.ns), options.secret}](
                             const ObjectEvent&) { return std::vector<Request>{{key}}; };
  ControllerBuilder<kMandate> builder(component.controller_context);
  builder.Named(std::string(kComponent))
      .template For<corev1::Secret>(OneObject{std::string(component.ns), options.secret});
  CertificateWrites writes;
  writes.secret = [client](const CallContext& context, corev1::Secret secret) mutable {
    return client.template Update<corev1::Secret>(context, std::move(secret)).status();
  };
  const auto add = [&]<class T>(const std::vector<PublishedConfiguration>& published, auto& write) {
    if constexpr (rbac::PermitsSomewhere(kMandate, "update", KindOf<T>::value.group,
                                         KindOf<T>::value.plural)) {
      write = [client](const CallContext& context, T configuration) mutable {
        return client.template Update<T>(context, std::move(configuration)).status();
      };
      for (const PublishedConfiguration& configuration : published) {
        builder.template Watches<T>(OneObject{"", configuration.name}, to_secret);
      }
    }
  };
  add.template operator()<ValidatingWebhookConfiguration>(options.validating, writes.validating);
  add.template operator()<MutatingWebhookConfiguration>(options.mutating, writes.mutating);
  return builder.Complete(
      std::make_unique<CertificateReconciler>(component, options, std::move(writes)));
}

// The demand with which every replica, leader or not, gets the serving certificate of the Secret.
// It serves no webhook.
Webhooks MakeServing(const Component& component, const CertificateOptions& options,
                     std::shared_ptr<ServingCertificate> serving);

// The component. Its name is kComponent; `settings` are those that Program::components gets
// (cmd/program/program.h).
template <const rbac::Mandate& kMandate>
ComponentSpec MakeComponent(std::shared_ptr<const Settings> settings) {
  static_assert(kMandate.component == kComponent);
  const auto health = std::make_shared<WriteHealth>();
  const auto controllers = [settings,
                            health](const Component& component) -> absl::StatusOr<Controllers> {
    CertificateOptions options = settings->options;
    options.health = health;
    ASSIGN_OR_RETURN(auto made, MakeController<kMandate>(component, options));
    Controllers all;
    all.push_back(std::move(made));
    return all;
  };
  const auto webhooks = [settings](const Component& component) -> absl::StatusOr<Webhooks> {
    return MakeServing(component, settings->options, settings->serving);
  };
  return {&kMandate, controllers, webhooks, [health] { return health->Ready(); }};
}

}  // namespace mandate::certificates
