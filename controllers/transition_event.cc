#include "controllers/transition_event.h"

namespace mandate {

void RecordTransition(EventRecorder& events, const ObjectRef& regarding, std::string_view condition,
                      const ConditionList& before, const ConditionList& after) {
  const ConditionProto* now = FindCondition(after, condition);
  const ConditionProto* was = FindCondition(before, condition);
  if (now == nullptr) return;
  if (was != nullptr && was->status() == now->status() && was->reason() == now->reason()) return;
  events.Eventf(regarding, now->status() == "False" ? EventType::kWarning : EventType::kNormal,
                now->reason(), "Reconcile", now->message());
}

}  // namespace mandate
