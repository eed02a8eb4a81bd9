// The invariants of the state that the cache reaches when nothing changes any more.
#pragma once

#include <cstdint>
#include <string>

#include "manager/cache/testing/model/model_world.h"

namespace mandate::model {

//   I1   the open streams are the expected ones
//   I3   the stores have the objects of the open streams, and no others
//   I5   each sink has the server's objects
//   I6   each read that the component's grants allow has the server's object
//   I7   a demand is forbidden if and only if the component may not read its scope
//   I9   the cache has the committed demands
class StateChecks {
 public:
  struct Totals {
    int64_t synced = 0;
    int64_t forbidden = 0;
    int64_t streams = 0;
    int64_t covered = 0;  // scopes that a wider stream serves
  };

  // Both outlive this. The violations may be other ones than the world's: in real time the state is
  // checked until it has none.
  StateChecks(ModelWorld& world, Violations& violations) : world_(world), violations_(violations) {}

  void Check(Totals& totals);
  // Only the demands, and not those of one component (null: all).
  void CheckDemands(const ModelWorld::Component* except, Totals& totals);
  // After the end of all demands: no watch, demand or object is left (I8).
  void CheckNothingLeft();

 private:
  void CheckDemand(const std::string& who, const ModelWorld::Component& component,
                   const WatchScope& scope, const DemandStatus& status, const ModelSink* sink,
                   Totals& totals);
  void CheckStreams(Totals& totals);
  void CheckReads();
  void CheckSelectedReads();

  ModelWorld& world_;
  Violations& violations_;
};

}  // namespace mandate::model
