// Whether an object was edited since it was read: a reconcile that writes for long should not go on
// with what is not wanted any more.
#ifndef CONTROLLERS_IS_CURRENT_H_
#define CONTROLLERS_IS_CURRENT_H_

#include "manager/cache/cache_view.h"
#include "manager/object/kind.h"

namespace mandate {

// Whether the cache has the same object with the same generation, which a deletion changes too. Its
// status and its annotations may have changed: anybody who writes those again and again would hold
// up the reconcile. True, too, when the cache cannot tell now. `read` is of a kind that has
// generations.
template <Object T>
bool IsCurrent(const CacheView& cache, const T& read) {
  const auto is = cache.GetRaw(WithoutWaiting(), KindOf<T>::value, KeyOf(read));
  if (!is.ok()) return !absl::IsNotFound(is.status());
  const auto& meta = read.metadata();
  if ((*is)->resource_version() == meta.resourceversion()) return true;
  return (*is)->uid() == meta.uid() && (*is)->Header().generation == meta.generation();
}

}  // namespace mandate

#endif  // CONTROLLERS_IS_CURRENT_H_
