// Events as they are recorded today; core/v1 has the older form of the same objects.
#ifndef MANAGER_OBJECT_KINDS_EVENTS_V1_H_
#define MANAGER_OBJECT_KINDS_EVENTS_V1_H_

#include "k8s.io/api/events/v1/generated.pb.h"
#include "manager/object/kind.h"

namespace mandate {

namespace eventsv1 = ::k8s::io::api::events::v1;

template <>
struct KindOf<eventsv1::Event> {
  static constexpr KindInfo value = BuiltIn("events.k8s.io", "Event", "events");
};

}  // namespace mandate

#endif  // MANAGER_OBJECT_KINDS_EVENTS_V1_H_
