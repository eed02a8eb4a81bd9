#include "cmd/mandate-manager/components.h"

#include <utility>

#include "controllers/certificates/make.h"
#include "controllers/certificates/webhook_certificates.h"
#include "controllers/scope/instance_reconciler.h"
#include "controllers/scope/template_reconciler.h"
#include "manager/telemetry/mandates.h"
#include "webhooks/scope/scope_webhooks.h"

namespace mandate {

std::vector<ComponentSpec> AllComponents(
    std::shared_ptr<const certificates::Settings> certificates) {
  return {
      {&kScopeTemplate, MakeOnlyController<scope::MakeTemplateController>},
      {&kScopeInstance, MakeOnlyController<scope::MakeInstanceController>},
      {&kMetricsAuth},
      {&kScopeWebhook, {}, scope::MakeScopeWebhooks},
      certificates::MakeComponent<kWebhookCertificates>(std::move(certificates)),
  };
}

}  // namespace mandate
