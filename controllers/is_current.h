// Checks whether an object was edited since it was read: a long reconcile must not go on with an
// outdated plan.
#pragma once

#include "manager/cache/cache_view.h"
#include "manager/object/kind.h"

namespace mandate {

// Whether the cache has the same object with the same generation, which a deletion changes too. A
// changed status or annotation does not count: otherwise a writer of those could hold up the
// reconcile. Also true if the cache cannot tell at the moment. `read` is of a kind with
// generations.
template <Object T>
bool IsCurrent(const CacheView& cache, const T& read) {
  const auto is = cache.GetRaw(NonBlockingContext(), KindOf<T>::value, KeyOf(read));
  if (!is.ok()) return !absl::IsNotFound(is.status());
  const auto& meta = read.metadata();
  if ((*is)->resource_version() == meta.resourceversion()) return true;
  return (*is)->uid() == meta.uid() && (*is)->Header().generation == meta.generation();
}

}  // namespace mandate
