// The parts of a component that its controllers use.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "manager/cache/cache_view.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/core/strand.h"
#include "manager/core/trace.h"

namespace mandate {

// The objects that the controllers of a component share. They outlive the controllers.
struct ControllerContext {
  std::string component;  // `cache` reads with its identity; metrics and logs name it
  Loop& loop;
  // Reconcilers and the strand run here. A blocked reconciler keeps a thread: a pool needs more
  // threads than the sum of max_concurrent_reconciles, or stuck reconcilers hold up the strand. The
  // Manager gives each component a pool of its own, with one thread more.
  Executor& pool;
  CacheView& cache;
  Metrics& metrics;
  Logger log;
  uint64_t seed = 0;  // of reconcile IDs
  // Predicates, handlers and maps of all controllers of the component run here; null: the
  // controller makes one of its own on the pool.
  std::shared_ptr<Strand> strand = nullptr;
  Tracer* tracer = nullptr;  // of reconciliations; null: they are not traced
};

}  // namespace mandate
