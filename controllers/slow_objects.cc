#include "controllers/slow_objects.h"

#include <algorithm>

namespace mandate {

SlowObjects::Turn::Turn(SlowObjects& all, const ObjectKey& key, absl::Time now)
    : all_(all), key_(key), now_(now) {
  MutexLock lock(all_.mutex_);
  const auto until = all_.no_reports_.find(key);
  reports_slowly_ = until != all_.no_reports_.end() && now < until->second;
  slow_ = all_.slow_.contains(key);
  if (!slow_) return;
  const Answer answer = all_.Admit(key, now);
  has_slot_ = answer == Answer::kHasSlot;
  still_waiting_ = answer == Answer::kStillWaiting;
  if (has_slot_) ++all_.used_slots_;
}

// Each turn is one portion of an object's writes, so an object with many writes does not block the
// others.
SlowObjects::Answer SlowObjects::Admit(const ObjectKey& key, absl::Time now) {
  std::erase_if(waiting_,
                [&](const Waiting& one) { return one.key != key && now - one.asked > kLapse; });
  auto mine = std::ranges::find(waiting_, key, &Waiting::key);
  if (used_slots_ + AheadOf(mine) < static_cast<size_t>(std::max(at_once_, 1))) {
    if (mine != waiting_.end()) {
      waiting_.erase(mine);
      ++turns_;
    }
    return Answer::kHasSlot;
  }
  if (mine == waiting_.end()) {
    waiting_.push_back({key, now, now});
    return Answer::kWaits;
  }
  const bool is_early = now - mine->asked < kLater;
  mine->asked = now;
  if (!is_early && now - mine->planned < kPlanAgain) return Answer::kStillWaiting;
  mine->planned = now;
  return Answer::kWaits;
}

size_t SlowObjects::AheadOf(std::vector<Waiting>::const_iterator one) const {
  if (one == waiting_.end()) return waiting_.size();
  const bool is_oldests = turns_ % kOldestsTurn == kOldestsTurn - 1;
  const auto is_ahead = [&](std::vector<Waiting>::const_iterator a,
                            std::vector<Waiting>::const_iterator b) {
    if (is_oldests && (a == waiting_.begin()) != (b == waiting_.begin())) {
      return a == waiting_.begin();
    }
    return a->revokes == b->revokes ? a < b : a->revokes;
  };
  size_t ahead = 0;
  for (auto other = waiting_.begin(); other != waiting_.end(); ++other) {
    if (is_ahead(other, one)) ++ahead;
  }
  return ahead;
}

void SlowObjects::Note(const TriedTargets& tried, Slow& of) {
  for (const auto& [target, quick] : tried) {
    if (quick) {
      of.targets.erase(target);
    } else if (of.targets.size() < kMaxSlowTargets) {
      of.targets.insert(target);
    }
  }
}

bool SlowObjects::Turn::IsQuick(const ObjectKey& object) const {
  MutexLock lock(all_.mutex_);
  const auto mine = all_.slow_.find(key_);
  if (mine == all_.slow_.end()) return true;
  const auto& slow = mine->second.targets;
  return slow.size() < kMaxSlowTargets && !slow.contains(TargetOf(object));
}

bool SlowObjects::Turn::TakeEarly() {
  MutexLock lock(all_.mutex_);
  if (all_.slow_[key_].found_early) return false;
  if (all_.early_ < kEarlyAtOnce) {
    ++all_.early_;
    return early_ = true;
  }
  const auto mine = std::ranges::find(all_.waiting_, key_, &Waiting::key);
  if (mine != all_.waiting_.end()) mine->planned = absl::InfinitePast();
  return false;
}

void SlowObjects::Turn::EndEarly(bool slow, const TriedTargets& tried) {
  MutexLock lock(all_.mutex_);
  Slow& mine = all_.slow_[key_];
  mine.found_early = slow;
  Note(tried, mine);
}

Result SlowObjects::Turn::RequeueLater() {
  waits_ = true;
  if (!revokes_) return {kLater};
  MutexLock lock(all_.mutex_);
  const auto mine = std::ranges::find(all_.waiting_, key_, &Waiting::key);
  if (mine != all_.waiting_.end()) mine->revokes = true;
  return {kLater};
}

void SlowObjects::Turn::NoteSlowReport() {
  reports_slowly_ = true;
  MutexLock lock(all_.mutex_);
  absl::erase_if(all_.no_reports_, [&](const auto& one) { return one.second <= now_; });
  all_.no_reports_[key_] = now_ + kNoReports;
}

SlowObjects::Turn::~Turn() {
  MutexLock lock(all_.mutex_);
  if (has_slot_) --all_.used_slots_;
  if (early_) --all_.early_;
  if (!slow_ || waits_) return;
  std::erase_if(all_.waiting_, [&](const Waiting& one) { return one.key == key_; });
}

void SlowObjects::Turn::End(bool slow, const TriedTargets& tried) {
  MutexLock lock(all_.mutex_);
  if (!slow) {
    all_.slow_.erase(key_);
    return;
  }
  Slow& mine = all_.slow_[key_];
  mine.found_early = false;
  Note(tried, mine);
}

}  // namespace mandate
