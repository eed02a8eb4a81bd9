// The invariants that hold when nothing changes any more, and the server works.
#pragma once

#include <cstdint>

#include "manager/cache/testing/model/running_checks.h"
#include "manager/cache/testing/model/scoped_world.h"

namespace mandate::model {

// Expects that the world is calm, and that the cache has had the time to notice it.
//
//   I1   the open streams are the expected ones
//   I3   the stores have the objects of the open streams, and no others
//   I5   each sink has the server's objects, and receives each change exactly once
//   I7   a demand is forbidden if and only if the component may not read its scope
//   I8   the end of all demands leaves nothing, whether or not the server answers
//   I9   the cache has the committed demands
//   I10  a component that the server does not answer, or denies, delays no other
class CalmChecks {
 public:
  struct Totals {
    int64_t synced = 0;
    int64_t forbidden = 0;
    int64_t streams = 0;
    int64_t covered = 0;  // scopes that a wider stream serves
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
  void CheckDemand(const std::string& who, const ScopedWorld::Component& component,
                   const WatchScope& scope, const DemandStatus& status, const ModelSink* sink,
                   Totals& totals);
  void CheckAllDemands(const ScopedWorld::Component* except, Totals& totals);
  void CheckStreams(Totals& totals);
  void CheckReads();
  double Gauge(const std::string& name, const Labels& labels);

  ScopedWorld& world_;
};

}  // namespace mandate::model
