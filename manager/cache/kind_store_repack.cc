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
  const auto is_filled = [&](std::string_view ns, std::string_view name) {
    const auto found = watched_.find(Scope(ns, name));
    return found != watched_.end() && found->second->filled();
  };
  if (is_filled("", "") || is_filled("", place.name)) return true;
  if (!place.ns.empty() && (is_filled(place.ns, "") || is_filled(place.ns, place.name)))
    return true;
  bool is_held = false;
  selected_.ForEachHolder(place, [&](const Known&) { is_held = true; });
  return is_held;
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
    closed_.ForEach(add);
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
  const auto swap = [&](const Known& known) ABSL_NO_THREAD_SAFETY_ANALYSIS {
    if (!known.is_without_objects) known.store->SwapLocked(held, copy);
  };
  const auto swap_at = [&](std::string_view ns, std::string_view name) {
    const auto found = watched_.find(Scope(ns, name));
    if (found != watched_.end()) swap(*found->second);
  };
  swap_at("", "");
  swap_at("", held->name());
  if (!held->ns().empty()) {
    swap_at(held->ns(), "");
    swap_at(held->ns(), held->name());
  }
  selected_.ForEachHolder(held->Key(), swap);
  closed_.ForEach(*held, swap);
}

}  // namespace mandate
