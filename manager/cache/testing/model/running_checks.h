// The invariants that hold at every moment, faults or not.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manager/cache/testing/model/model_world.h"

namespace mandate::model {

// Reads by every component, the open streams, the ended sinks and the probes.
//
//   I2   a stream is open only for a component that demands its scope, and a scope has at most one
//   I3   a component reads an object only if a demand of its own covers it
//   I4   no object goes back to an older version for a component, whichever demand answers
//   I6   NotFound comes only from a stream that follows the server, and only if it may be true
//   I7   a component reads nothing from the moment of its denial, and no component else is denied
//   I8   an ended demand leaves no reference to its sink
//   I9   the demands of owners are the last committed ones
//   I11  probes stay within the budget
class RunningChecks {
 public:
  struct Totals {
    int64_t reads = 0;
    int64_t found = 0;
    int64_t not_found = 0;
    int64_t forbidden = 0;
    int64_t unavailable = 0;
    int64_t last_known = 0;
    int64_t probes = 0;
    int64_t newer = 0;  // objects that were read at a newer version than before
  };

  // `world` outlives this.
  explicit RunningChecks(ModelWorld& world) : world_(world) {}
  void Check(Totals& totals);

 private:
  using Component = ModelWorld::Component;

  void CheckGet(Component& component, const ObjectKey& key, Totals& totals);
  void CheckList(Component& component, const std::string& ns);
  void CheckObject(Component& component, const RawObject& object, Totals* totals);
  void CheckAbsent(Component& component, const ObjectKey& key,
                   const std::vector<WatchScope>& scopes);
  void CheckAnswer(Component& component, const std::string& what,
                   const std::vector<WatchScope>& scopes, const absl::Status& status,
                   bool may_wait);
  void CheckLastKnown(const Component& component, const ObjectKey& key, Totals& totals);
  void CheckStatuses();
  void CheckStreams();
  void CheckProbes(Component& component, Totals& totals);
  bool MayRead(const Component& component, const WatchScope& scope);
  bool IsLost(const Component& component, const WatchScope& scope) const;

  ModelWorld& world_;
  // The version on the server when a component had certainly lost a scope.
  std::map<std::pair<std::string, WatchScope>, int> lost_at_version_;
};

}  // namespace mandate::model
