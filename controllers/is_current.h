// Whether an object that was read is still what the cache has: a reconcile that writes for long
// should not go on with what was edited meanwhile.
#ifndef CONTROLLERS_IS_CURRENT_H_
#define CONTROLLERS_IS_CURRENT_H_

#include "manager/cache/cache.h"
#include "manager/object/kind.h"

namespace mandate {

// True, too, when the cache cannot tell now.
template <Object T>
bool IsCurrent(const CacheView& cache, const T& read) {
  const auto is = cache.GetRaw(WithoutWaiting(), KindOf<T>::value, KeyOf(read));
  if (!is.ok()) return !absl::IsNotFound(is.status());
  return (*is)->resource_version() == read.metadata().resourceversion();
}

}  // namespace mandate

#endif  // CONTROLLERS_IS_CURRENT_H_
