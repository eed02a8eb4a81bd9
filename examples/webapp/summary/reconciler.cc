#include "summary/reconciler.h"

#include <utility>

#include "manager/client/client.h"
#include "manager/controller/controller_builder.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/kinds/core_v1.h"
#include "webapp/plan.h"

namespace webapp {
namespace {

using mandate::CallContext;
using mandate::Component;
using mandate::Request;
using mandate::Result;
using mandate::corev1::ConfigMap;

const mandate::ObjectKey kSummary = {kRecords, "summary"};

class SummaryReconciler : public mandate::Reconciler {
 public:
  // `component` outlives this.
  SummaryReconciler(const Component& component, mandate::Client<mandate::kWebappSummary> client)
      : component_(component), client_(std::move(client)) {}

  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request&) override {
    ASSIGN_OR_RETURN(const auto apps, component_.cache().ListRaw(
                                          context, mandate::KindOf<v1alpha1::WebApp>::value, ""));
    const auto observed = component_.cache().Get<ConfigMap>(context, kSummary);
    if (!observed.ok() && !absl::IsNotFound(observed.status())) return observed.status();
    ConfigMap summary;
    summary.mutable_metadata()->set_namespace_(kSummary.ns);
    summary.mutable_metadata()->set_name(kSummary.name);
    (*summary.mutable_data())["webapps"] = mandate::StrCat(apps.size());
    RETURN_IF_ERROR(
        client_.Ensure(context, summary, observed.ok() ? &*observed : nullptr).status());
    return Result{};
  }

 private:
  const Component& component_;
  mandate::Client<mandate::kWebappSummary> client_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<mandate::Controller>> MakeSummaryController(
    const Component& component) {
  ASSIGN_OR_RETURN(auto client, mandate::Client<mandate::kWebappSummary>::Create(component.client));
  return mandate::ControllerBuilder<mandate::kWebappSummary>(component.controller_context)
      .Named("webapp-summary")
      .For<ConfigMap>(mandate::OneObject{kSummary.ns, kSummary.name})
      .Watches<v1alpha1::WebApp>(
          [](const v1alpha1::WebApp&) { return std::vector<Request>{{kSummary}}; })
      .Complete(std::make_unique<SummaryReconciler>(component, std::move(client)));
}

}  // namespace webapp
