// What a reconcile of a slow object does before it writes.
#ifndef CONTROLLERS_PUT_OFF_H_
#define CONTROLLERS_PUT_OFF_H_

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "controllers/portion.h"
#include "controllers/slow_objects.h"
#include "manager/core/call_context.h"
#include "manager/core/clock.h"

namespace mandate {

enum class Planned { kNothing, kGrants, kRevocations };

template <class Plan>
Planned PlannedBy(const Plan& plan) {
  if (plan.writes() == 0) return Planned::kNothing;
  return plan.revokes() ? Planned::kRevocations : Planned::kGrants;
}

// Whether the reconcile ends here with turn.Later(), as it is not the object's turn. `planned`: the
// first of what there is to write. `report` tells that writes are under way: nothing says success
// while an answer, or the turn, is waited for. It is called at most once, and only briefly waited
// for: neither a revocation nor another object waits for a status.
bool PutOff(const CallContext& context, const Clock& clock, const PortionLimits& limits,
            SlowObjects::Turn& turn, Planned planned,
            absl::FunctionRef<absl::Status(const CallContext&)> report);

}  // namespace mandate

#endif  // CONTROLLERS_PUT_OFF_H_
