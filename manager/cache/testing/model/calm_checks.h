// The invariants that hold when nothing changes any more, and the server works.
#pragma once

#include <cstdint>

#include "manager/cache/testing/model/scoped_world.h"
#include "manager/cache/testing/model/state_checks.h"

namespace mandate::model {

// Expects that the world is calm, and that the cache has had the time to notice it.
//
//   I1, I3, I5, I6, I7, I9   StateChecks
//   I5   each sink receives each change exactly once
//   I8   the end of all demands leaves nothing, whether or not the server answers
//   I10  a component that the server does not answer, or denies, delays no other
class CalmChecks {
 public:
  struct Totals {
    StateChecks::Totals state;
    int64_t exact_events = 0;
    int64_t lingered = 0;
    int64_t stuck = 0;
    int64_t denied = 0;
  };

  // `world` outlives this.
  explicit CalmChecks(ScopedWorld& world) : world_(world) {}

  void CheckState(Totals& totals);
  // Changes objects, and checks that each sink receives exactly these changes.
  void CheckEvents(Totals& totals);
  // An unused watch stays open for its time, and a new demand uses it.
  void CheckLinger(Totals& totals);
  // One component gets no answers for a while.
  void CheckStuck(Totals& totals);
  // The component that sponsors a shared stream loses its access.
  void CheckDenial(Totals& totals);
  // Releases all demands. `is_down`: the server answers nothing any more.
  void CheckRelease(bool is_down);

 private:
  ScopedWorld& world_;
};

}  // namespace mandate::model
