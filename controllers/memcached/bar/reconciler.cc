#include "controllers/memcached/bar/reconciler.h"

#include <string>

#include "controllers/report.h"
#include "google/protobuf/util/message_differencer.h"
#include "manager/controller/controller_builder.h"
#include "manager/controller/demand_for.h"
#include "manager/core/status_macros.h"
#include "manager/object/api_error.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate::bar {

using corev1::Secret;
using google::protobuf::util::MessageDifferencer;
using v1::Bar;

std::vector<SelectedDemand> DemandsOf(const Bar& bar) {
  std::vector<SelectedDemand> demands;
  const v1::BarSpec& spec = bar.spec();
  if (spec.has_secretsinnamespace()) {
    demands.push_back(DemandFor<kBar, Secret>(InNamespace{spec.secretsinnamespace().namespace_()}));
  }
  if (spec.has_secret()) {
    demands.push_back(
        DemandFor<kBar, Secret>(OneObject{spec.secret().namespace_(), spec.secret().name()}));
  }
  if (spec.secretsincluster()) demands.push_back(DemandFor<kBar, Secret>());
  return demands;
}

BarReconciler::BarReconciler(const Component& component, Client<kBar> client,
                             std::shared_ptr<DemandSet> demands)
    : component_(component), client_(std::move(client)), demands_(std::move(demands)) {}

absl::StatusOr<Result> BarReconciler::Reconcile(const CallContext& context,
                                                const Request& request) {
  auto bar = component_.cache().Get<Bar>(context, request.key);
  if (IsNotFound(bar.status())) return Result{};
  RETURN_IF_ERROR(bar.status());
  const std::vector<SelectedDemand> demands = DemandsOf(*bar);
  demands_->Replace(OwnerOf(*bar), demands);

  v1::BarStatus status;
  for (const SelectedDemand& demand : demands) {
    ASSIGN_OR_RETURN(*status.add_reads(), Read(context, demand.spec));
  }
  if (MessageDifferencer::Equals(status, bar->status())) return Result{};
  const absl::Status written = WriteStatus(context, client_, *bar, status);
  if (!IsOutdated(written, request.key.name)) RETURN_IF_ERROR(written);
  return Result{};
}

absl::StatusOr<v1::BarRead> BarReconciler::Read(const CallContext& context,
                                                const DemandSpec& spec) const {
  v1::BarRead read;
  read.set_scope(spec.ToString());
  const DemandStatus status = demands_->StatusOf(spec).value_or(DemandStatus());
  read.set_state(std::string(ToString(status.state)));
  if (status.state != DemandState::kSynced) return read;
  if (spec.name.empty()) {
    ASSIGN_OR_RETURN(const auto secrets, component_.cache().ListRaw(context, spec.kind, spec.ns));
    read.set_secrets(static_cast<int>(secrets.size()));
    return read;
  }
  const auto secret = component_.cache().GetRaw(context, spec.kind, {spec.ns, spec.name});
  if (!secret.ok() && !IsNotFound(secret.status())) return secret.status();
  read.set_secrets(secret.ok() ? 1 : 0);
  return read;
}

absl::StatusOr<std::unique_ptr<Controller>> MakeController(const Component& component) {
  ASSIGN_OR_RETURN(auto client, Client<kBar>::Create(component.client));
  auto demands = std::make_shared<DemandSet>(component.controller_context);
  return ControllerBuilder<kBar>(component.controller_context)
      .For<Bar>()
      .WithDemands(demands)
      // A namespace's reconciles leave workers to the others, also while the API server takes long
      // for what they write.
      .WithOptions({.max_concurrent_reconciles = 8,
                    .reconcile_timeout = absl::Seconds(10),
                    .queue = {.max_of_namespace = 2}})
      .Complete(std::make_unique<BarReconciler>(component, std::move(client), demands));
}

}  // namespace mandate::bar
