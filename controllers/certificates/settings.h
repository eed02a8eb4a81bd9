// What a program tells the component that keeps its webhooks' certificates.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "controllers/certificates/reconciler.h"
#include "manager/component.h"
#include "manager/serving/serving_certificate.h"

namespace mandate::certificates {

// The component's name, in each program.
inline constexpr std::string_view kComponent = "webhook-certificates";

// Set them before the Manager is made. RunProgram() does (cmd/program/program.h).
struct Settings {
  CertificateOptions options;
  std::shared_ptr<ServingCertificate> serving;
};

// The Secret with the certificates: BASE-webhook-certificate, where `base` is BaseName().
std::string SecretName(std::string_view base);

// The configurations of the components' webhooks, in which the authorities are published, with the
// names of the webhooks: BASE-COMPONENT-validating and -mutating.
void NameConfigurations(std::string_view base, const std::vector<ComponentSpec>& components,
                        CertificateOptions& options);

}  // namespace mandate::certificates
