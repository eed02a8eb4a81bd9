// An event for each change of a condition, for `kubectl describe`, and a line in the log. A denied
// write does not fail the reconcile, so that it has no other line.
#pragma once

#include <string_view>

#include "controllers/conditions.h"
#include "manager/controller/event_recorder.h"
#include "manager/core/log.h"

namespace mandate {

// Records the condition's reason and message if its status or reason has changed. The event is a
// Warning if the condition is False and not in progress (DesiredCondition). `log` names the object
// (CallContext::log).
void RecordTransition(EventRecorder& events, const Logger& log, const ObjectRef& regarding,
                      std::string_view condition, const ConditionList& before,
                      const ConditionList& after, bool in_progress);

}  // namespace mandate
