// Demands that a reconciler makes while it runs: what each object needs to be watched, for as long
// as that object needs it.
//
//   auto demands = std::make_shared<DemandSet>(component.controller_context);
//   ControllerBuilder<kMemcached>(component.controller_context)
//       .For<Memcached>()
//       .WithDemands(demands)
//       .Complete(std::make_unique<MemcachedReconciler>(…, demands));
//
//   // In Reconcile():
//   const DemandOwner owner = OwnerOf(memcached);
//   demands->Replace(owner, {
//       DemandFor<kMemcached, Deployment>(InNamespace{ns}, selector),
//       DemandFor<kMemcached, Pod>(InNamespace{ns}, selector),
//   });
//   if (absl::Status status = demands->Check(owner); !status.ok()) {
//     if (absl::IsUnavailable(status)) return Result{};  // reconciled again when they are synced
//     … report it, such as a denial, in the object's status …
//   }
//   … cache.Get<Deployment>(context, key) …
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/demand_table.h"
#include "manager/controller/controller_context.h"
#include "manager/controller/demand_scope.h"
#include "manager/controller/request.h"
#include "manager/core/call_context.h"

namespace mandate {

// A demand for one object of the kind T. DemandFor() with OneObject (demand_for.h) returns it.
template <Readable T>
struct ObjectDemand : SelectedDemand {
  explicit ObjectDemand(SelectedDemand demand) : SelectedDemand(std::move(demand)) {}
};

// The demands of one controller's objects. An event of a demanded object, and a change of a
// demand's state (synced, forbidden, …), is a request for each object that demands it. Objects that
// demand the same scope share one watch. Thread-safe.
class DemandSet {
 public:
  explicit DemandSet(const ControllerContext& controller_context);  // its parts outlive this
  ~DemandSet();                                                     // releases all demands

  // Makes `demands` the demands of the owner, in one step. Does not block: a demand that is new
  // opens its watch later, and the owner is reconciled again when the demand is synced or denied. A
  // demand that the mandate does not cover is denied, and nothing is sent.
  void Replace(const DemandOwner& owner, const std::vector<SelectedDemand>& demands);

  // Releases the demands of the owner, without any request to the server. A deleted owner is also
  // released by the controller.
  void Release(const DemandOwner& owner);
  void Release(const ObjectKey& owner);  // whatever its UID is

  // OK if all demands of the owner are synced. kPermissionDenied: one of them is forbidden; the
  // message has the server's, and how many more are. kNotFound: the server does not serve its kind.
  // kResourceExhausted: its objects are larger than the memory that is left. kUnavailable: it is
  // not synced yet, or stale.
  absl::Status Check(const DemandOwner& owner) const;
  // The state of a demand, by SelectedDemand::Stream(); nullopt: no owner demands exactly this.
  std::optional<DemandStatus> StatusOf(const DemandSpec& spec) const;

  // Adds the demand to those of the owner, waits until it is synced or denied, and reads the
  // object. Blocks within `context`; not for the loop. Errors: those of Check() and of
  // CacheView::Get().
  template <Readable T>
  absl::StatusOr<T> Get(const CallContext& context, const DemandOwner& owner,
                        const ObjectDemand<T>& demand) {
    absl::Status status = Await(context, owner, demand);
    if (!status.ok()) return status;
    return cache_.Get<T>(context, {demand.spec.ns, demand.spec.name});
  }

  // For the controller. `enqueue` is called on the loop, and not after Close(), which releases all
  // demands and lets no new ones in.
  using Enqueue = std::function<void(const std::vector<Request>&)>;
  void Connect(std::string_view controller, Enqueue enqueue);
  void Close();

 private:
  class Core;

  absl::Status Await(const CallContext& context, const DemandOwner& owner,
                     const SelectedDemand& demand);

  CacheView& cache_;
  const std::shared_ptr<Core> core_;  // shared with the cache's sinks
};

// The object as the owner of demands.
template <Readable T>
DemandOwner OwnerOf(const T& object) {
  return {KeyOf(object), object.metadata().uid()};
}

}  // namespace mandate
