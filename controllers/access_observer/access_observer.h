// The component access-observer: it watches RBAC, and tells the cache whose permissions may have
// changed. Without it, a component notices a new grant within a minute and a revocation within
// five.
//
// It reads with an identity of its own, where an administrator lets it, and writes nothing. Each
// kind that it may not read only costs the hints of that kind.
//
// +mandate:component:name=access-observer,events=none
// +mandate:rbac:granted=external,groups=rbac.authorization.k8s.io,resources=rolebindings;clusterrolebindings;roles;clusterroles,verbs=list;watch
#pragma once

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "controllers/access_observer/mandates.h"
#include "manager/component.h"
#include "manager/controller/controller.h"
#include "manager/controller/reconciler.h"
#include "manager/core/mutex.h"

namespace mandate::access {

// Gives hints. A request is a component (name) whose permissions may have changed in a namespace
// (ns; empty: everywhere). The API server's authorizer learns of a change by a watch of its own,
// perhaps later than we do. So the hint is given 100 ms after the event, and again a second later.
// Thread-safe.
class AccessObserver : public Reconciler {
 public:
  explicit AccessObserver(AccessHints& hints) : hints_(hints) {}  // outlives this

  // The event is a change for this component in this namespace.
  void Note(const Request& request);
  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override;

 private:
  enum class Stage { kNoted, kWaiting, kHinted };

  AccessHints& hints_;
  Mutex mutex_;
  absl::flat_hash_map<Request, Stage> stages_ ABSL_GUARDED_BY(mutex_);
};

// The controller of all RBAC kinds. kFailedPrecondition: Component::access_hints is null.
absl::StatusOr<std::unique_ptr<Controller>> MakeController(const Component& component);

}  // namespace mandate::access
