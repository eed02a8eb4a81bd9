#include "controllers/certificates/settings.h"

#include <utility>

#include "manager/core/strings.h"

namespace mandate::certificates {

std::string SecretName(std::string_view base) { return StrCat(base, "-webhook-certificate"); }

void NameConfigurations(std::string_view base, const std::vector<ComponentSpec>& components,
                        CertificateOptions& options) {
  for (const ComponentSpec& component : components) {
    const auto add = [&](bool mutating, const char* suffix,
                         std::vector<PublishedConfiguration>& configurations) {
      std::vector<std::string> webhooks;
      for (const rbac::DeclaredWebhook& webhook : component.mandate->webhooks) {
        if (webhook.mutating == mutating) webhooks.emplace_back(webhook.name);
      }
      if (webhooks.empty()) return;
      configurations.push_back(
          {StrCat(base, "-", component.mandate->component, suffix), std::move(webhooks)});
    };
    add(false, "-validating", options.validating);
    add(true, "-mutating", options.mutating);
  }
}

}  // namespace mandate::certificates
