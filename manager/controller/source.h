// The sources of a controller: what it watches.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "manager/cache/cache_view.h"
#include "manager/controller/handlers.h"
#include "manager/controller/predicates.h"
#include "manager/controller/request.h"

namespace mandate {

// A demand, and the handling of its events.
struct Source {
  DemandSpec demand;
  EventHandler handler;
  std::vector<Predicate> predicates;  // all must pass
  // Its objects are reconciled: workers do not start before they are listed.
  bool is_primary = false;
};

// Runs the predicates and the handler, which appends requests. kInternal: one of them threw an
// exception. Other errors are the handler's.
absl::Status MapEvent(const Source& source, const ObjectEvent& event,
                      std::vector<Request>& requests);

// Merges sources with equal demands into one, at the place of the first: each event comes once, and
// all their handlers run in turn. All run even if one fails; the first error is returned. Sources
// without a handler stay as they are.
std::vector<Source> MergeSources(std::vector<Source> sources);

}  // namespace mandate
