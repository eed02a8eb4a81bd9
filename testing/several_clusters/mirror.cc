#include "testing/several_clusters/mirror.h"

#include <utility>

#include "manager/client/client.h"
#include "manager/controller/controller_builder.h"
#include "manager/core/status_macros.h"
#include "manager/object/kinds/core_v1.h"

namespace mandate::mirror {
namespace {

using corev1::ConfigMap;

class LeafReconciler : public Reconciler {
 public:
  explicit LeafReconciler(std::shared_ptr<RequestChannel> hub) : hub_(std::move(hub)) {}

  absl::StatusOr<Result> Reconcile(const CallContext&, const Request& request) override {
    if (hub_->Enqueue(request)) return Result{};
    return absl::UnavailableError("mirror-hub takes no request now");
  }

 private:
  const std::shared_ptr<RequestChannel> hub_;
};

class HubReconciler : public Reconciler {
 public:
  // The components outlive this.
  HubReconciler(const Component& hub, const Component& leaf, Client<kMirrorLeaf> client)
      : hub_(hub), leaf_(leaf), client_(std::move(client)) {}

  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override {
    const auto wanted = hub_.cache().Get<ConfigMap>(context, request.key);
    if (!wanted.ok() && !absl::IsNotFound(wanted.status())) return wanted.status();
    const auto copy = leaf_.cache().Get<ConfigMap>(context, request.key);
    if (!copy.ok() && !absl::IsNotFound(copy.status())) return copy.status();
    if (!wanted.ok()) {
      if (copy.ok()) RETURN_IF_ERROR(client_.Delete<ConfigMap>(context, request.key).status());
      return Result{};
    }
    ConfigMap desired;
    desired.mutable_metadata()->set_namespace_(request.key.ns);
    desired.mutable_metadata()->set_name(request.key.name);
    *desired.mutable_data() = wanted->data();
    RETURN_IF_ERROR(client_.Ensure(context, desired, copy.ok() ? &*copy : nullptr).status());
    return Result{};
  }

 private:
  const Component& hub_;
  const Component& leaf_;
  Client<kMirrorLeaf> client_;
};

// Each namespace has one of its own in each cluster.
Predicate IsNotTheAuthority() {
  return [](const ObjectEvent& event) { return event.object->name() != "kube-root-ca.crt"; };
}

}  // namespace

absl::StatusOr<std::unique_ptr<Controller>> MakeLeafController(
    const Component& leaf, std::shared_ptr<RequestChannel> hub) {
  return ControllerBuilder<kMirrorLeaf>(leaf.controller_context)
      .Named("mirror-leaf")
      .For<ConfigMap>(InNamespace{kNamespace}, IsNotTheAuthority())
      .Complete(std::make_unique<LeafReconciler>(std::move(hub)));
}

absl::StatusOr<std::unique_ptr<Controller>> MakeHubController(
    const Component& hub, const Component& leaf, std::shared_ptr<RequestChannel> requests) {
  ASSIGN_OR_RETURN(auto client, Client<kMirrorLeaf>::Create(leaf.client));
  return ControllerBuilder<kMirrorHub>(hub.controller_context)
      .Named("mirror-hub")
      .For<ConfigMap>(InNamespace{kNamespace}, IsNotTheAuthority())
      .WithChannel(std::move(requests))
      .Complete(std::make_unique<HubReconciler>(hub, leaf, std::move(client)));
}

}  // namespace mandate::mirror
