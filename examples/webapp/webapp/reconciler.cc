#include "webapp/reconciler.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/escaping.h"
#include "controllers/ensure_owned.h"
#include "controllers/report.h"
#include "controllers/write_log.h"
#include "manager/controller/controller_builder.h"
#include "manager/controller/demand_for.h"
#include "manager/controller/finalizer.h"
#include "manager/core/sha256.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace webapp {
namespace {

using mandate::CallContext;
using mandate::Component;
using mandate::DemandSet;
using mandate::DesiredCondition;
using mandate::Result;
using mandate::StrAppend;
using mandate::StrCat;
using mandate::appsv1::Deployment;
using mandate::corev1::ConfigMap;
using mandate::corev1::Secret;
using mandate::corev1::Service;
using v1alpha1::WebApp;

constexpr char kFinalizer[] = "apps.example.com/record";
// The delay after a denied write: the API server does not announce new permissions.
constexpr absl::Duration kForbiddenRetry = absl::Seconds(30);

class WebAppReconciler : public mandate::Reconciler {
 public:
  // `component` outlives this.
  WebAppReconciler(const Component& component, mandate::Client<mandate::kWebapp> client,
                   std::shared_ptr<DemandSet> demands)
      : component_(component), client_(std::move(client)), demands_(std::move(demands)) {}

  absl::StatusOr<Result> Reconcile(const CallContext& context,
                                   const mandate::Request& request) override {
    auto app = component_.cache().Get<WebApp>(context, request.key);
    if (absl::IsNotFound(app.status())) return Result{};
    RETURN_IF_ERROR(app.status());
    if (app->metadata().has_deletiontimestamp()) return TearDown(context, *app);
    RETURN_IF_ERROR(mandate::AddFinalizer(context, client_, *app, kFinalizer));

    const absl::StatusOr<std::string> inputs = ReadInputs(context, *app);
    // The demand is not answered yet. Its answer is another request.
    if (absl::IsUnavailable(inputs.status())) return Result{};
    if (absl::IsPermissionDenied(inputs.status())) {
      const std::string why(inputs.status().message());
      RETURN_IF_ERROR(Report(context, *app, {kSynced, false, "SecretsForbidden", why}));
      return Result{};
    }
    RETURN_IF_ERROR(inputs.status());
    return Write(context, *app, absl::BytesToHexString(mandate::Sha256({*inputs})));
  }

 private:
  // The versions of all that a restart makes effective.
  absl::StatusOr<std::string> ReadInputs(const CallContext& context, const WebApp& app) {
    std::string inputs;
    const std::map<std::string, std::string> config(app.spec().config().begin(),
                                                    app.spec().config().end());
    for (const auto& [key, value] : config) StrAppend(&inputs, key, "=", value, "\n");
    const std::string& ns = app.spec().secretnamespace();
    const mandate::DemandOwner owner = mandate::OwnerOf(app);
    if (ns.empty()) {
      demands_->Release(owner);
      return inputs;
    }
    demands_->Replace(owner,
                      {mandate::DemandFor<mandate::kWebapp, Secret>(mandate::InNamespace{ns})});
    RETURN_IF_ERROR(demands_->Check(owner));
    ASSIGN_OR_RETURN(const auto secrets,
                     component_.cache().ListRaw(context, mandate::KindOf<Secret>::value, ns));
    for (const auto& secret : secrets) {
      StrAppend(&inputs, secret->Key().name, "@", secret->resource_version(), "\n");
    }
    return inputs;
  }

  absl::StatusOr<Result> Write(const CallContext& context, WebApp& app, const std::string& inputs) {
    mandate::WriteLog log;
    log.Add("ConfigMap",
            mandate::EnsureOwned(context, component_, client_, app, MakeConfigMap(app)));
    log.Add("Service", mandate::EnsureOwned(context, component_, client_, app, MakeService(app)));
    log.Add("Deployment",
            mandate::EnsureOwned(context, component_, client_, app, MakeDeployment(app, inputs)));
    log.Add("record", WriteRecord(context, MakeRecord(app)));
    DesiredCondition synced = {kSynced, true, "Synced", "all objects are as the spec says"};
    if (!log.failures().empty()) synced = {kSynced, false, "WriteFailed", log.failures().front()};
    RETURN_IF_ERROR(Report(context, app, synced));
    return log.ToResult(kForbiddenRetry);
  }

  absl::StatusOr<ConfigMap> WriteRecord(const CallContext& context, const ConfigMap& record) {
    const auto observed = component_.cache().Get<ConfigMap>(context, mandate::KeyOf(record));
    if (!observed.ok() && !absl::IsNotFound(observed.status())) return observed.status();
    return client_.Ensure(context, record, observed.ok() ? &*observed : nullptr);
  }

  absl::Status Report(const CallContext& context, WebApp& app, const DesiredCondition& synced) {
    const auto deployment = component_.cache().Get<Deployment>(context, mandate::KeyOf(app));
    if (!deployment.ok() && !absl::IsNotFound(deployment.status())) return deployment.status();
    const auto status = MakeStatus(app, deployment.ok() ? &*deployment : nullptr);
    const bool ready = deployment.ok() && status.readyreplicas() == app.spec().replicas();
    const std::string message =
        StrCat(status.readyreplicas(), " of ", app.spec().replicas(), " replicas are ready");
    return mandate::ReportStatus(
        context, component_, client_, app, status,
        {{kAvailable, ready, ready ? "Ready" : "NotReady", message}, synced},
        {kSynced, kAvailable});
  }

  // Garbage collection deletes all but the record, which is in another namespace.
  absl::StatusOr<Result> TearDown(const CallContext& context, WebApp& app) {
    const auto deleted = client_.Delete<ConfigMap>(context, mandate::KeyOf(MakeRecord(app)));
    if (!deleted.ok() && !mandate::IsNotFound(deleted.status())) return deleted.status();
    RETURN_IF_ERROR(mandate::RemoveFinalizer(context, client_, app, kFinalizer));
    return Result{};
  }

  const Component& component_;
  mandate::Client<mandate::kWebapp> client_;
  const std::shared_ptr<DemandSet> demands_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<mandate::Controller>> MakeController(const Component& component) {
  ASSIGN_OR_RETURN(auto client, mandate::Client<mandate::kWebapp>::Create(component.client));
  auto demands = std::make_shared<DemandSet>(component.controller_context);
  return mandate::ControllerBuilder<mandate::kWebapp>(component.controller_context)
      .Named("webapp")
      .For<WebApp>()
      .Owns<Deployment>()
      .Owns<Service>()
      .Owns<ConfigMap>()
      .WithDemands(demands)
      .Complete(std::make_unique<WebAppReconciler>(component, std::move(client), demands));
}

}  // namespace webapp
