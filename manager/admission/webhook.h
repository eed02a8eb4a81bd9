// A webhook of a component, and the path under which it is served.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "manager/admission/admission_call.h"
#include "manager/admission/conversion.h"
#include "manager/cache/cache_view.h"
#include "manager/object/kind.h"
#include "manager/rbac/mandate.h"

namespace mandate {

enum class WebhookType { kValidating, kMutating };

// It has either a handler of AdmissionReviews, or conversions for ConversionReviews.
struct Webhook {
  std::string path;
  AdmissionHandler handler = nullptr;
  std::shared_ptr<const Conversions> conversions = nullptr;
};

// The webhook of the CRDs' spec.conversion; the path is controller-runtime's and the default of
// rbacgen's CRDs.
inline Webhook ConversionWebhook(Conversions conversions, std::string path = "/convert") {
  return {.path = std::move(path),
          .conversions = std::make_shared<const Conversions>(std::move(conversions))};
}

// The webhooks of one component.
struct Webhooks {
  std::vector<Webhook> hooks;
  // The demands for the objects that the handlers read. Reviews are answered when all are synced.
  std::vector<std::unique_ptr<DemandHandle>> demands = {};
};

// The path that controller-runtime gives to the kind:
// "/validate-operators-coreos-com-v1alpha1-scopetemplate", "/mutate--v1-pod".
std::string WebhookPath(WebhookType type, const KindInfo& kind);

// OK if the component serves exactly the webhooks that its markers declare, and the API server
// therefore calls. CRDs declare conversions, so these are not compared. kInvalidArgument names
// those that differ, and the next step.
absl::Status CheckServedMatchesDeclared(const rbac::Mandate& mandate,
                                        const std::vector<Webhook>& served);

// For a review whose operation no typed webhook has.
absl::Status UnknownOperation(std::string_view operation);

}  // namespace mandate
