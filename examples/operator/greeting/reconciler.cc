#include "greeting/reconciler.h"

#include <utility>

#include "controllers/report.h"
#include "controllers/write_log.h"
#include "greeting/plan.h"
#include "manager/controller/controller_builder.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace example {

using mandate::corev1::ConfigMap;

// The delay after a denied write: the API server does not announce new permissions.
constexpr absl::Duration kForbiddenRetry = absl::Seconds(10);

GreetingReconciler::GreetingReconciler(const mandate::Component& component,
                                       mandate::Client<mandate::kGreeting> client)
    : component_(component), client_(std::move(client)) {}

absl::StatusOr<mandate::Result> GreetingReconciler::Reconcile(const mandate::CallContext& context,
                                                              const mandate::Request& request) {
  auto greeting = component_.cache().Get<v1alpha1::Greeting>(context, request.key);
  if (absl::IsNotFound(greeting.status())) return mandate::Result{};
  RETURN_IF_ERROR(greeting.status());
  // The garbage collector deletes the ConfigMap.
  if (greeting->metadata().has_deletiontimestamp()) return mandate::Result{};

  std::optional<ConfigMap> actual;
  if (auto read = component_.cache().Get<ConfigMap>(context, request.key); read.ok()) {
    actual = *std::move(read);
  } else if (!absl::IsNotFound(read.status())) {
    return read.status();
  }

  const Plan plan = MakePlan(*greeting, actual);
  mandate::WriteLog log;
  if (plan.write.has_value()) {
    log.Add(mandate::StrCat("ConfigMap ", request.key.ToString()),
            client_.Ensure(context, *plan.write, actual ? &*actual : nullptr));
  }
  std::string failure = plan.problem;
  for (const std::string& one : log.failures()) failure = one;
  RETURN_IF_ERROR(mandate::ReportConditions(
      context, component_, client_, *greeting,
      {failure.empty() ? mandate::DesiredCondition{"Ready", true, "Greeted", "the ConfigMap exists"}
                       : mandate::DesiredCondition{"Ready", false, "Failed", failure}},
      {"Ready"}));
  return log.ToResult(kForbiddenRetry);
}

absl::StatusOr<std::unique_ptr<mandate::Controller>> MakeController(
    const mandate::Component& component) {
  ASSIGN_OR_RETURN(auto client, mandate::Client<mandate::kGreeting>::Create(component.client));
  return mandate::ControllerBuilder<mandate::kGreeting>(component.controller_context)
      .Named("greeting")
      .For<v1alpha1::Greeting>()
      // ConfigMaps are watched by name, not by owner: the deletion of a foreign ConfigMap frees the
      // name.
      .Watches<ConfigMap>([](const ConfigMap& config_map) {
        return std::vector<mandate::Request>{{mandate::KeyOf(config_map)}};
      })
      .Complete(std::make_unique<GreetingReconciler>(component, std::move(client)));
}

}  // namespace example
