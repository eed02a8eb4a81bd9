#include "controllers/defer_if_slow.h"

namespace mandate {

bool DeferIfSlow(const CallContext& context, const Clock& clock, const PortionLimits& limits,
                 SlowObjects::Turn& turn, WriteKind planned,
                 absl::FunctionRef<absl::Status(const CallContext&)> report) {
  const bool writes = planned != WriteKind::kNothing;
  if (planned == WriteKind::kRevocations) turn.NoteRevocation();
  if (turn.slow() && writes && !turn.reports_slowly()) {
    WriteRound none;
    Portion brief(clock, limits, none, /*patient=*/false);
    brief.Report(context, report).IgnoreError();
    if (brief.reported_slowly()) turn.NoteSlowReport();
  }
  return turn.must_wait() && (writes || turn.reports_slowly());
}

}  // namespace mandate
