#include "manager/admission/review_deadlines.h"

#include <vector>

namespace mandate {

std::shared_ptr<ReviewDeadlines> ReviewDeadlines::Create(Loop& loop) {
  return std::shared_ptr<ReviewDeadlines>(new ReviewDeadlines(loop));
}

ReviewDeadlines::Key ReviewDeadlines::Add(absl::Time when, std::function<void()> late) {
  Key key;
  {
    MutexLock lock(mutex_);
    key = {when, next_++};
    pending_.emplace(key, std::move(late));
    if (when >= armed_) return key;
    armed_ = when;
  }
  loop_.Post([self = shared_from_this()] { self->Arm(); });
  return key;
}

void ReviewDeadlines::Remove(const Key& key) {
  std::function<void()> removed;  // destroyed without the lock
  MutexLock lock(mutex_);
  const auto found = pending_.find(key);
  if (found == pending_.end()) return;
  removed = std::move(found->second);
  pending_.erase(found);
}

void ReviewDeadlines::Close() {
  loop_.Post([self = shared_from_this()] {
    {
      MutexLock lock(self->mutex_);
      self->closed_ = true;
    }
    self->timer_.reset();
  });
}

void ReviewDeadlines::Arm() {
  absl::Time when;
  {
    MutexLock lock(mutex_);
    if (closed_) return;
    when = armed_;
  }
  timer_.reset();
  if (when == absl::InfiniteFuture()) return;
  timer_ = loop_.RunAt(when, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->OnTimer();
  });
}

void ReviewDeadlines::OnTimer() {
  std::vector<std::function<void()>> due;
  {
    MutexLock lock(mutex_);
    const absl::Time now = loop_.clock().TimeNow();
    while (!pending_.empty() && pending_.begin()->first.first <= now) {
      due.push_back(std::move(pending_.begin()->second));
      pending_.erase(pending_.begin());
    }
    armed_ = pending_.empty() ? absl::InfiniteFuture() : pending_.begin()->first.first;
  }
  Arm();
  for (const auto& late : due) late();
}

}  // namespace mandate
