// The fence for events: a component may write only its own events.
#pragma once

#include "rbacgen/emit/chart/object_maker.h"

namespace mandate::rbacgen {

// Adds the policy and its binding. With RBAC alone, a user that may write one event may write any
// event of the namespace, in the name of any controller. The policy lets the component write only
// events that have it as their reporting controller, as the runtime's events do
// (manager/controller/event_object.h), in both groups that have events. Not in the identity mode
// single.
void AddEventFence(ObjectMaker& maker);

}  // namespace mandate::rbacgen
