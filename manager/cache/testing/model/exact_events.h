// The events that each sink should receive. The changes are made one by one, without faults.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "manager/cache/testing/model/model_world.h"

namespace mandate::model {

// I5: each sink receives each change exactly once. The sinks are those of the demands that may read
// their scopes, and are not paused.
class ExactEvents {
 public:
  // Begins. `world` outlives this; its demands do not change meanwhile.
  explicit ExactEvents(ModelWorld& world);

  // The object has changed. Call it after the history knows the change, and before the cache does.
  void Expect(const ObjectKey& key);
  // Whether all sinks have received what they should, and nothing else.
  bool Complete() const;
  // Adds a violation for each sink that has not. Returns the number of objects with events. A sink
  // whose demand was not synced all the time may have missed states in between: it only has to have
  // the last ones.
  int64_t Check();

 private:
  struct Watched {
    ModelSink* sink;
    std::string who;
    int64_t reports;  // of its state, at the beginning
    Content has;
    ModelSink::Events expected;
  };

  void Add(const ModelWorld::Component& component, ModelSink* sink);
  bool IsRight(const Watched& watched) const;

  ModelWorld& world_;
  std::vector<Watched> watched_;
};

}  // namespace mandate::model
