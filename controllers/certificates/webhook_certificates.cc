#include "controllers/certificates/webhook_certificates.h"

#include <string>
#include <utility>

#include "controllers/certificates/make.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::certificates {

void NameConfigurations(const std::vector<ComponentSpec>& components, CertificateOptions& options) {
  for (const ComponentSpec& component : components) {
    const auto add = [&](bool mutating, const char* suffix,
                         std::vector<PublishedConfiguration>& configurations) {
      std::vector<std::string> webhooks;
      for (const rbac::DeclaredWebhook& webhook : component.mandate->webhooks) {
        if (webhook.mutating == mutating) webhooks.emplace_back(webhook.name);
      }
      if (webhooks.empty()) return;
      configurations.push_back(
          {StrCat("mandate-manager-", component.mandate->component, suffix), std::move(webhooks)});
    };
    add(false, "-validating", options.validating);
    add(true, "-mutating", options.mutating);
  }
}

ComponentSpec WebhookCertificates(std::shared_ptr<const Settings> settings) {
  const auto health = std::make_shared<WriteHealth>();
  const auto controllers = [settings,
                            health](const Component& component) -> absl::StatusOr<Controllers> {
    CertificateOptions options = settings->options;
    options.health = health;
    ASSIGN_OR_RETURN(auto made, MakeController<kWebhookCertificates>(component, options));
    Controllers all;
    all.push_back(std::move(made));
    return all;
  };
  const auto webhooks = [settings](const Component& component) -> absl::StatusOr<Webhooks> {
    return MakeServing(component, settings->options, settings->serving);
  };
  return {&kWebhookCertificates, controllers, webhooks, [health] { return health->Ready(); }};
}

}  // namespace mandate::certificates
