#include "cmd/program/certificate_flags.h"

#include <utility>

#include "absl/time/time.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

absl::StatusOr<certificates::CertificateLifetimes> ParseLifetimes(const WebhookFlags& flags) {
  certificates::CertificateLifetimes lifetimes;
  if (!absl::ParseDuration(flags.certificate_duration, &lifetimes.serving)) {
    return absl::InvalidArgumentError(StrCat("--webhook-certificate-duration: \"",
                                             flags.certificate_duration,
                                             "\" is not a duration; use 168h"));
  }
  if (!absl::ParseDuration(flags.ca_duration, &lifetimes.authority)) {
    return absl::InvalidArgumentError(
        StrCat("--webhook-ca-duration: \"", flags.ca_duration, "\" is not a duration; use 8760h"));
  }
  const absl::Status valid = certificates::CheckLifetimes(lifetimes);
  if (!valid.ok()) {
    return absl::InvalidArgumentError(
        StrCat("--webhook-certificate-duration: ", AsStd(valid.message())));
  }
  return lifetimes;
}

}  // namespace

void DeclareCertificate(CLI::App& app, const std::string& owner,
                        ServingCertificate::Options& certificate, const std::string& help) {
  const std::string path = StrCat("--", owner, "-cert-path");
  // The older name of --metrics-cert-path.
  const std::string names = owner == "metrics" ? path + ",--metrics-cert-dir" : path;
  app.add_option(names, certificate.dir, help)->type_name("DIR");
  const auto file = [&](const char* suffix, std::string& name, const char* what) {
    app.add_option(StrCat("--", owner, "-cert-", suffix), name,
                   StrCat("File of the ", what, " in ", path, "."))
        ->type_name("FILE")
        ->capture_default_str();
  };
  file("name", certificate.cert_name, "certificate");
  file("key", certificate.key_name, "private key");
}

void DeclareWebhooks(CLI::App& app, WebhookFlags& flags, ManagerOptions& options) {
  const auto add = [&](const char* name, std::string& value, const char* type, const char* help) {
    app.add_option(name, value, help)->type_name(type)->capture_default_str();
  };
  add("--webhook-bind-address", options.webhook_address, "HOST:PORT",
      "Address of the webhooks, over HTTPS; 0 disables them.");
  DeclareCertificate(
      app, "webhook", flags.files,
      StrCat("Folder of the serving certificate of the webhooks, reloaded when it changes. "
             "Default: the component webhook-certificates creates and rotates certificates, in the "
             "Secret ",
             certificates::SecretName(flags.base), "."));
  add("--webhook-service-name", flags.service, "NAME",
      "Service of the webhooks, in --namespace. A generated certificate is valid for its DNS "
      "name.");
  add("--webhook-certificate-duration", flags.certificate_duration, "DURATION",
      "Validity of a generated serving certificate.");
  add("--webhook-ca-duration", flags.ca_duration, "DURATION",
      "Validity of the CA that signs the generated serving certificates; at least four times "
      "theirs.");
}

absl::Status ResolveCertificate(const WebhookFlags& flags,
                                const std::vector<ComponentSpec>& enabled, ManagerOptions& options,
                                certificates::Settings& certificates) {
  ASSIGN_OR_RETURN(certificates.options.lifetimes, ParseLifetimes(flags));
  if (options.webhook_address == "0") return absl::OkStatus();
  ServingCertificate::Options files = flags.files;
  files.log = options.log;
  if (!files.dir.empty()) {
    auto read = ServingCertificate::Create(std::move(files));
    if (!read.ok()) {
      return absl::InvalidArgumentError(
          StrCat("--webhook-cert-path: ", AsStd(read.status().message())));
    }
    options.webhook_certificate = *std::move(read);
    return absl::OkStatus();
  }
  options.webhook_certificate = ServingCertificate::WithoutCertificate(options.log);
  certificates.serving = options.webhook_certificate;
  certificates.options.names = {StrCat("DNS:", flags.service, ".", options.ns, ".svc"),
                                "DNS:localhost", "IP:127.0.0.1"};
  certificates.options.secret = certificates::SecretName(flags.base);
  certificates::NameConfigurations(flags.base, enabled, certificates.options);
  return absl::OkStatus();
}

}  // namespace mandate
