// The component webhook-certificates: keeps the certificates of this project's webhooks.
//
// +mandate:component:name=webhook-certificates,value=webhooks.enabled,unless=webhooks.certificateSecret,events=none
// +mandate:justify:reason="The Secret holds the certificates that this component makes."
// +mandate:rbac:groups=core,resources=secrets,resourceNames=mandate-manager-webhook-certificate,verbs=list;watch;update,namespace=$(NAMESPACE),fieldSelector=metadata.name
// +mandate:fence:groups=core,resources=secrets,verbs=update,fields=data
// +mandate:justify:reason="API servers verify the webhooks by the caBundle that this component writes."
// +mandate:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=mandate-manager-scope-webhook-validating,verbs=list;watch;update,fieldSelector=metadata.name
// +mandate:fence:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,verbs=update,fields=webhooks[*].clientConfig.caBundle
#pragma once

#include <memory>
#include <vector>

#include "controllers/certificates/mandates.h"
#include "controllers/certificates/reconciler.h"
#include "manager/component.h"
#include "manager/serving/serving_certificate.h"

namespace mandate::certificates {

// The settings of the component. Set them before the Manager is made.
struct Settings {
  CertificateOptions options;
  std::shared_ptr<ServingCertificate> serving;
};

// The configurations of the components' webhooks, in which the authorities are published, with the
// names of the webhooks: mandate-manager-COMPONENT-validating and -mutating.
void NameConfigurations(const std::vector<ComponentSpec>& components, CertificateOptions& options);

ComponentSpec WebhookCertificates(std::shared_ptr<const Settings> settings);

}  // namespace mandate::certificates
