// What a controller watches.
#ifndef MANAGER_CONTROLLER_SOURCE_H_
#define MANAGER_CONTROLLER_SOURCE_H_

#include <vector>

#include "manager/cache/cache.h"
#include "manager/controller/handlers.h"
#include "manager/controller/predicates.h"

namespace mandate {

// Something to watch, and what to do about its events.
struct Source {
  DemandSpec demand;
  EventHandler handler;
  std::vector<Predicate> predicates;  // all must pass
  // Its objects are what is reconciled: nothing is reconciled before they are listed.
  bool reconciled = false;
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_SOURCE_H_
