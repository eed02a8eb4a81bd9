// What a controller watches.
#ifndef MANAGER_CONTROLLER_SOURCE_H_
#define MANAGER_CONTROLLER_SOURCE_H_

#include <vector>

#include "absl/status/status.h"
#include "manager/cache/cache_view.h"
#include "manager/controller/handlers.h"
#include "manager/controller/predicates.h"
#include "manager/controller/request.h"

namespace mandate {

// Something to watch, and what to do about its events.
struct Source {
  DemandSpec demand;
  EventHandler handler;
  std::vector<Predicate> predicates;  // all must pass
  // Its objects are what is reconciled: nothing is reconciled before they are listed.
  bool reconciled = false;
};

// Runs the predicates and the handler on an event, which appends requests. kInternal: one of them
// threw. Errors: the handler's.
absl::Status Handle(const Source& source, const ObjectEvent& event, std::vector<Request>& requests);

// Joins the sources that demand the same into one, at the place of the first: each event comes
// once, and is handled by all of them in turn. An error of one does not keep it from the others;
// the first error is the joint one. Those without a handler are left as they are.
std::vector<Source> MergeSources(std::vector<Source> sources);

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_SOURCE_H_
