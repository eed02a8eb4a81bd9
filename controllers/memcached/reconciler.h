// The component memcached: the operator of "Informers Based on RBAC". It runs a Deployment for each
// Memcached, in the namespaces where an administrator lets it.
//
// An administrator grants all its rights: those to its own kind in the whole cluster, and those to
// Deployments and Pods in some namespaces.
//
// +mandate:component:name=memcached,events=none
// +mandate:rbac:granted=external,groups=cache.example.com,resources=memcacheds,verbs=list;watch;patch
// +mandate:rbac:granted=external,groups=cache.example.com,resources=memcacheds/status,verbs=patch
// +mandate:rbac:granted=external,groups=cache.example.com,resources=memcacheds/finalizers,verbs=update
// +mandate:justify:reason="A Deployment runs the servers of each Memcached."
// +mandate:rbac:granted=external,groups=apps,resources=deployments,verbs=list;watch;create;patch
// +mandate:rbac:granted=external,groups=core,resources=pods,verbs=list;watch
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "controllers/memcached/denied_writes.h"
#include "controllers/memcached/mandates.h"
#include "controllers/memcached/plan.h"
#include "manager/client/client.h"
#include "manager/component.h"
#include "manager/controller/controller.h"
#include "manager/controller/demand_set.h"
#include "manager/controller/reconciler.h"
#include "manager/core/mutex.h"

namespace mandate::memcached {

// A reconciler of Memcacheds. While it runs, it demands the Deployments and Pods of each
// Memcached's namespace, so a Memcached without permission fails alone, and is reconciled when the
// permission comes. Thread-safe.
class MemcachedReconciler : public Reconciler {
 public:
  // `component` outlives this.
  MemcachedReconciler(const Component& component, Client<kMemcached> client,
                      std::shared_ptr<DemandSet> demands);

  absl::StatusOr<Result> Reconcile(const CallContext& context, const Request& request) override;

 private:
  // Releases the demands, then the finalizer. Needs no watch but that of the Memcacheds.
  absl::StatusOr<Result> TearDown(const CallContext& context, v1alpha1::Memcached& memcached,
                                  const Logger& log);
  // Demands the Deployments and Pods of the Memcached.
  void DemandFor(const v1alpha1::Memcached& memcached, const Logger& log);
  // Releases the demands of the owner, if there are any; DemandFor() waits for `pause`.
  void Release(const ObjectKey& owner, const Logger& log,
               absl::Duration pause = absl::ZeroDuration());
  // The time until demands may be made again after a release. Zero: now.
  absl::Duration PauseOf(const ObjectKey& owner);
  // kUnavailable: the watches have no answer yet, and their answer will be an event.
  absl::StatusOr<Snapshot> Read(const CallContext& context, v1alpha1::Memcached memcached) const;
  absl::Status Write(const CallContext& context, const Snapshot& snapshot, const Plan& plan,
                     const Logger& log);
  absl::Status Report(const CallContext& context, Snapshot& snapshot,
                      const std::optional<Problem>& problem, const Logger& log);

  const Component& component_;
  Client<kMemcached> client_;
  const std::shared_ptr<DemandSet> demands_;
  DeniedWrites denied_writes_;
  Mutex mutex_;
  // The UIDs of the Memcacheds that have demands, so that these are logged once.
  absl::flat_hash_map<ObjectKey, std::string> demanding_ ABSL_GUARDED_BY(mutex_);
  // The UIDs of the Memcacheds that are being deleted, so that these are logged once.
  absl::flat_hash_map<ObjectKey, std::string> deleted_ ABSL_GUARDED_BY(mutex_);
  // The end of the pause after a release.
  absl::flat_hash_map<ObjectKey, absl::Time> paused_ ABSL_GUARDED_BY(mutex_);
};

// The controller of Memcacheds.
absl::StatusOr<std::unique_ptr<Controller>> MakeController(const Component& component);

}  // namespace mandate::memcached
