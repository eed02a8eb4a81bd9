// The step of a reconcile of a slow object before its writes.
#pragma once

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "controllers/portion.h"
#include "controllers/slow_objects.h"
#include "manager/core/call_context.h"
#include "manager/core/clock.h"

namespace mandate {

enum class WriteKind { kNothing, kGrants, kRevocations };

template <class Plan>
WriteKind WriteKindOf(const Plan& plan) {
  if (plan.writes() == 0) return WriteKind::kNothing;
  return plan.revokes() ? WriteKind::kRevocations : WriteKind::kGrants;
}

// Whether the reconcile must end with turn.RequeueLater(), because it is not the object's turn.
// `planned`: the kind of the first planned write. `report` reports that writes are in progress, so
// that the status is not a success while the object waits for a response or for its turn. It is
// called at most once, with a short deadline: neither a revocation nor another object waits for a
// status.
bool DeferIfSlow(const CallContext& context, const Clock& clock, const PortionLimits& limits,
                 SlowObjects::Turn& turn, WriteKind planned,
                 absl::FunctionRef<absl::Status(const CallContext&)> report);

}  // namespace mandate
