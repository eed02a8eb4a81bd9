// The objects whose compressed bytes need parts of others that are gone.
#include <utility>

#include "manager/cache/kind_store.h"

namespace mandate {

void KindStore::Forget(const DemandSpec& scope) {
  packer_.Forget([&](const ObjectKey& place) {
    const bool in_scope = (scope.ns.empty() || scope.ns == place.ns) &&
                          (scope.name.empty() || scope.name == place.name);
    return in_scope && !IsWatched(place);
  });
  CheckStale();
}

bool KindStore::IsWatched(const ObjectKey& place) const {
  bool is_watched = false;
  ForEachWatchedAt(place.ns, place.name,
                   [&](const Known& known) { is_watched = is_watched || known.filled(); });
  selected_.ForEachHolder(place, [&](const Known&) { is_watched = true; });
  return is_watched;
}

void KindStore::CheckStale() {
  if (!packer_.HasStale()) return;
  starts_over_ = true;
  if (std::exchange(is_stale_, true) || on_stale_ == nullptr) return;
  on_stale_();
}

bool KindStore::Repack(size_t most) {
  if (std::exchange(starts_over_, false)) {
    unchecked_.clear();
    checked_ = nullptr;
    const auto add = [&](const Known& known) { unchecked_.push_back(known.store); };
    for (const auto& [scope, known] : watched_) add(*known);
    selected_.ForEachIn("", add);
  }
  while (most > 0 && !unchecked_.empty()) {
    std::vector<ObjectPtr> objects;
    if (const auto store = unchecked_.back().lock()) objects = store->ListAfter(checked_, most);
    for (const ObjectPtr& object : objects) {
      if (!packer_.IsStale(*object)) continue;
      Swap(object, packer_.Repack(object));
      if (repacked_ != nullptr) repacked_->Increment();
    }
    if (objects.size() == most) {
      checked_ = objects.back();
    } else {
      unchecked_.pop_back();
      checked_ = nullptr;
    }
    most -= objects.size();
  }
  is_stale_ = !unchecked_.empty();
  return is_stale_;
}

void KindStore::Swap(const ObjectPtr& held, const ObjectPtr& copy) {
  MutexLock lock(*mutex_);
  const auto swap = [&](const Known& known)
                        ABSL_NO_THREAD_SAFETY_ANALYSIS { known.store->SwapLocked(held, copy); };
  ForEachWatchedAt(held->ns(), held->name(), swap);
  selected_.ForEachHolder(held->Key(), swap);
}

}  // namespace mandate
