// The component access-observer: it watches RBAC, and tells the cache whose permissions may have
// changed. Without it, a component notices a new grant within a minute and a revocation within
// five.
//
// It reads with an identity of its own, where an administrator lets it, and writes nothing. Each
// kind that it may not read only costs the hints of that kind. Of roles and RoleBindings, which
// tenants may write, only small parts are held.
//
// +mandate:component:name=access-observer,events=none
// +mandate:rbac:granted=external,groups=rbac.authorization.k8s.io,resources=rolebindings;clusterrolebindings;roles;clusterroles,verbs=list;watch
#pragma once

#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "controllers/access_observer/mandates.h"
#include "controllers/access_observer/watch_check.h"
#include "manager/component.h"
#include "manager/controller/controller.h"
#include "manager/controller/reconciler.h"
#include "manager/core/clock.h"
#include "manager/core/mutex.h"

namespace mandate::access {

// Gives hints. A request is a component (name; empty: all) whose permissions may have changed in a
// namespace (ns; empty: everywhere). The API server's authorizer learns of a change by a watch of
// its own, perhaps later than we do. So the hint is given 100 ms after the event, and again a
// second later. Events that come within these 100 ms share both hints.
//
// Changes that were made before a kind was listed have no event. So a second after the list all
// components are reminded to prove again what they proved before it, or within the first 100 ms
// after it. That request is empty, and comes again for each WatchCheck. Thread-safe.
class AccessObserver : public Reconciler {
 public:
  // What `component` borrows outlives this.
  explicit AccessObserver(const Component& component);

  // The event is a change for this component in this namespace.
  void Note(const Request& request);
  // The event is part of a list: other changes may have had no event.
  void NoteList();
  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override;

 private:
  enum class Stage { kNoted, kWaiting, kHinted };
  struct Change {
    Stage stage = Stage::kNoted;
    absl::Time due = absl::InfinitePast();  // kWaiting: of the first hint
  };

  absl::StatusOr<Result> RemindAll();

  AccessHints& hints_;
  const Clock& clock_;
  WatchCheck check_;  // for the empty request
  Mutex mutex_;
  absl::Time listed_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();  // all are to be reminded
  absl::flat_hash_map<Request, Change> changes_ ABSL_GUARDED_BY(mutex_);
};

// The controller of all RBAC kinds. kFailedPrecondition: Component::access_hints is null.
absl::StatusOr<std::unique_ptr<Controller>> MakeController(const Component& component);

}  // namespace mandate::access
