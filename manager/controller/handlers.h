// Handlers, which map an event to requests.
#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/cache/cache_view.h"
#include "manager/controller/request.h"

namespace mandate {

// Appends requests, without duplicates among its own. It runs on the component's strand, one call
// at a time. It must not wait: it delays the component's other events. An error (an object that
// does not decode) concerns this event only: it is counted and logged, and the appended requests
// count.
using EventHandler =
    std::function<absl::Status(const ObjectEvent&, std::vector<Request>& requests)>;

// A request for the object itself.
EventHandler EnqueueObject();

// A request for the object's controller, if its group and kind are those of `owner`; the version
// does not matter. For an update, the controllers of the old and of the new object, so that a
// removed one is noticed.
EventHandler EnqueueControllerOwner(const KindInfo& owner);
// The same for every owner reference, marked as controller or not.
EventHandler EnqueueOwners(const KindInfo& owner);

// The requests that the function returns for the event.
using EventMapFunc = std::function<std::vector<Request>(const ObjectEvent&)>;
EventHandler EnqueueMappedEvent(EventMapFunc map);

// The requests that the function returns for the object; for an update, for the old and the new
// one.
template <Readable T>
using ObjectMapFunc = std::function<std::vector<Request>(const T&)>;

namespace internal {
using RawMap = std::function<absl::StatusOr<std::vector<Request>>(const RawObject&)>;
EventHandler EnqueueRawMap(RawMap map);
}  // namespace internal

template <Readable T>
EventHandler EnqueueMapped(ObjectMapFunc<T> map) {
  return internal::EnqueueRawMap(
      [map = std::move(map)](const RawObject& raw) -> absl::StatusOr<std::vector<Request>> {
        absl::StatusOr<T> object = raw.template Decode<T>();
        if (!object.ok()) return std::move(object).status();
        return map(*object);
      });
}

}  // namespace mandate
