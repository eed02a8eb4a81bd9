#include "controllers/slow_objects.h"

#include <algorithm>

namespace mandate {

SlowObjects::Turn::Turn(SlowObjects& all, const ObjectKey& key, absl::Time now)
    : all_(all), key_(key) {
  MutexLock lock(all_.mutex_);
  slow_ = all_.slow_.contains(key);
  at_work_ = slow_ && all_.Admit(key, now);
  if (at_work_) ++all_.at_work_;
}

// Each turn is one portion of an object's writes: one with many does not keep the others waiting.
bool SlowObjects::Admit(const ObjectKey& key, absl::Time now) {
  std::erase_if(waiting_, [&](const Waiting& one) {
    return one.key != key && (now - one.asked > kLapse || !slow_.contains(one.key));
  });
  auto mine = std::ranges::find(waiting_, key, &Waiting::key);
  if (at_work_ + (mine - waiting_.begin()) < std::max(at_once_, 1)) {
    if (mine != waiting_.end()) waiting_.erase(mine);
    return true;
  }
  if (mine == waiting_.end()) mine = waiting_.insert(mine, {key, now});
  mine->asked = now;
  return false;
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
