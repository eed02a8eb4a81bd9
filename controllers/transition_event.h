// An event for each change of a condition, for people who ask `kubectl describe`, and a line in the
// log: a write that is denied is no failed reconcile, and has no other.
#ifndef CONTROLLERS_TRANSITION_EVENT_H_
#define CONTROLLERS_TRANSITION_EVENT_H_

#include <string_view>

#include "controllers/conditions.h"
#include "manager/controller/event_recorder.h"
#include "manager/core/log.h"

namespace mandate {

// Records the condition's reason and message when its status or reason is not what it was; a
// Warning when it is False.
void RecordTransition(EventRecorder& events, const Logger& log, const ObjectRef& regarding,
                      std::string_view condition, const ConditionList& before,
                      const ConditionList& after);

}  // namespace mandate

#endif  // CONTROLLERS_TRANSITION_EVENT_H_
