// The flags of serving certificates.
#pragma once

#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/status/status.h"
#include "controllers/certificates/settings.h"
#include "manager/manager.h"
#include "manager/serving/serving_certificate.h"

namespace mandate {

// --OWNER-cert-path, -cert-name and -cert-key.
void DeclareCertificate(CLI::App& app, const std::string& owner,
                        ServingCertificate::Options& certificate, const std::string& help);

// The values of the webhooks' flags.
struct WebhookFlags {
  ServingCertificate::Options files;
  std::string base = {};     // BaseName(), of which other names consist
  std::string service = {};  // the default is that of the flag
  std::string certificate_duration = "168h";
  std::string ca_duration = "8760h";
};

// The flags that begin with --webhook-. `flags` and `options` outlive the app.
void DeclareWebhooks(CLI::App& app, WebhookFlags& flags, ManagerOptions& options);

// Sets the webhooks' certificate: from files, or from the component webhook-certificates, whose
// settings are `certificates`. kInvalidArgument names the flag.
absl::Status ResolveCertificate(const WebhookFlags& flags,
                                const std::vector<ComponentSpec>& enabled, ManagerOptions& options,
                                certificates::Settings& certificates);

}  // namespace mandate
