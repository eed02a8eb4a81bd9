// The fence around events: a component may write only its own.
#ifndef RBACGEN_EMIT_CHART_EVENT_FENCE_H_
#define RBACGEN_EMIT_CHART_EVENT_FENCE_H_

#include "rbacgen/emit/chart/object_maker.h"

namespace mandate::rbacgen {

// Adds the policy and its binding. By RBAC who may write one event may write any of the namespace,
// in the name of every controller. The policy lets the component write those that name it as their
// reporting controller, as the runtime's do (manager/controller/event_object.h), through whichever
// of the two groups that have events. Not in the identity mode single.
void AddEventFence(ObjectMaker& maker);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_CHART_EVENT_FENCE_H_
