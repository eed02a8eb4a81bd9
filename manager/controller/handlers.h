// What to reconcile because of an event.
#ifndef MANAGER_CONTROLLER_HANDLERS_H_
#define MANAGER_CONTROLLER_HANDLERS_H_

#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/cache/cache_view.h"
#include "manager/controller/request.h"

namespace mandate {

// Appends requests, without duplicates among its own. It runs on the component's strand, one call
// at a time; what it takes delays the component's other events, so it must not wait. An error (an
// object that does not decode) concerns this event only: it is counted and logged, and what was
// appended counts.
using EventHandler =
    std::function<absl::Status(const ObjectEvent&, std::vector<Request>& requests)>;

// The object itself.
EventHandler EnqueueObject();

// The object's controller, when that is of `owner`'s group and kind; the version does not matter.
// Of an update both the old object's and the new one's, so that one that was taken away is noticed.
EventHandler EnqueueController(const KindInfo& owner);
// The same for every owner reference, marked as controller or not.
EventHandler EnqueueOwners(const KindInfo& owner);

// What the function says, of the event as a whole.
using EventMap = std::function<std::vector<Request>(const ObjectEvent&)>;
EventHandler EnqueueEventMap(EventMap map);

// What the function says of the object; of an update, of the old object and of the new one.
template <Object T>
using ObjectMap = std::function<std::vector<Request>(const T&)>;

namespace internal {
using RawMap = std::function<absl::StatusOr<std::vector<Request>>(const RawObject&)>;
EventHandler EnqueueRawMap(RawMap map);
}  // namespace internal

template <Object T>
EventHandler EnqueueMap(ObjectMap<T> map) {
  return internal::EnqueueRawMap(
      [map = std::move(map)](const RawObject& raw) -> absl::StatusOr<std::vector<Request>> {
        absl::StatusOr<T> object = raw.template Decode<T>();
        if (!object.ok()) return std::move(object).status();
        return map(*object);
      });
}

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_HANDLERS_H_
