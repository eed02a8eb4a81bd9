#include "controllers/transition_event.h"

namespace mandate {

void RecordTransition(EventRecorder& events, const Logger& log, const ObjectRef& regarding,
                      std::string_view condition, const ConditionList& before,
                      const ConditionList& after, bool in_progress) {
  const ConditionProto* now = FindCondition(after, condition);
  const ConditionProto* was = FindCondition(before, condition);
  if (now == nullptr) return;
  if (was != nullptr && was->status() == now->status() && was->reason() == now->reason()) return;
  const bool warns = now->status() == "False" && !in_progress;
  events.Record(regarding, warns ? EventType::kWarning : EventType::kNormal, now->reason(),
                "Reconcile", now->message());
  log.Info("Condition changed", {{"kind", regarding.kind},
                                 {"condition", condition},
                                 {"status", now->status()},
                                 {"reason", now->reason()},
                                 {"message", now->message()}});
}

}  // namespace mandate
