#include "controllers/slow_objects.h"

#include <algorithm>

namespace mandate {

SlowObjects::Turn::Turn(SlowObjects& all, const ObjectKey& key) : all_(all), key_(key) {
  MutexLock lock(all_.mutex_);
  slow_ = all_.slow_.contains(key);
  at_work_ = slow_ && all_.at_work_ < std::max(all_.at_once_, 1);
  if (at_work_) ++all_.at_work_;
}

SlowObjects::Turn::~Turn() {
  MutexLock lock(all_.mutex_);
  if (at_work_) --all_.at_work_;
}

void SlowObjects::Turn::End(bool slow) {
  MutexLock lock(all_.mutex_);
  if (slow) {
    all_.slow_.insert(key_);
  } else {
    all_.slow_.erase(key_);
  }
}

}  // namespace mandate
