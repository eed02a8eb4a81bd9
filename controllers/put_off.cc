#include "controllers/put_off.h"

namespace mandate {

bool PutOff(const CallContext& context, const Clock& clock, const PortionLimits& limits,
            SlowObjects::Turn& turn, Planned planned,
            absl::FunctionRef<absl::Status(const CallContext&)> report) {
  const bool writes = planned != Planned::kNothing;
  if (planned == Planned::kRevocations) turn.NoteRevocation();
  if (turn.slow() && writes && !turn.reports_slowly()) {
    WriteRound none;
    Portion brief(clock, limits, none, /*patient=*/false);
    brief.Report(context, report).IgnoreError();
    if (brief.reported_slowly()) turn.NoteSlowReport();
  }
  return turn.later() && (writes || turn.reports_slowly());
}

}  // namespace mandate
