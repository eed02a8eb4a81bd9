#include "manager/core/loop_label.h"

#include <utility>

#include "manager/core/strings.h"

namespace mandate {
namespace {

// The labels of this thread's turn.
thread_local LoopActivity* current = nullptr;

}  // namespace

LoopActivity::LoopActivity(const Clock& clock, absl::Duration limit)
    : clock_(clock), limit_(limit) {}

void LoopActivity::BeginTurn() {
  current = this;
  const absl::Time now = clock_.TimeNow();
  AdaptiveMutexLock lock(mutex_);
  ++number_;
  began_ = now;
  left_length_ = absl::ZeroDuration();
}

absl::Duration LoopActivity::EndTurn() {
  current = nullptr;
  const absl::Time now = clock_.TimeNow();
  AdaptiveMutexLock lock(mutex_);
  const absl::Duration length = now - *began_;
  if (length >= limit_) {
    ++long_turns_;
    if (ended_.size() < kMaxEnded) ended_.push_back({number_, length, LabelOf(now, length)});
  }
  began_.reset();
  return length;
}

LoopActivity::View LoopActivity::Look() {
  const absl::Time now = clock_.TimeNow();
  AdaptiveMutexLock lock(mutex_);
  View view;
  if (began_.has_value()) {
    const absl::Duration length = now - *began_;
    view.running = Turn{number_, length, LabelOf(now, length)};
  }
  view.ended = std::exchange(ended_, {});
  view.long_turns = long_turns_;
  return view;
}

std::string LoopActivity::CurrentLabel() {
  if (current != this) return "";
  AdaptiveMutexLock lock(mutex_);
  return innermost_ == nullptr ? "" : innermost_->Text();
}

std::string LoopActivity::LabelOf(absl::Time now, absl::Duration length) const {
  for (const LoopLabel* label = innermost_; label != nullptr; label = label->outer_) {
    if (2 * (now - label->since_) >= length) {
      // A function that it called, and that has returned, may be the more precise answer.
      const bool inside = left_since_ >= label->since_ && 2 * left_length_ >= length;
      return inside ? left_label_ : label->Text();
    }
  }
  return 2 * left_length_ >= length ? left_label_ : "";
}

void LoopActivity::Enter(LoopLabel& label) {
  const absl::Time now = clock_.TimeNow();
  AdaptiveMutexLock lock(mutex_);
  label.since_ = now;
  label.outer_ = innermost_;
  innermost_ = &label;
}

void LoopActivity::Leave(const LoopLabel& label) {
  const absl::Time now = clock_.TimeNow();
  AdaptiveMutexLock lock(mutex_);
  innermost_ = label.outer_;
  const absl::Duration length = now - label.since_;
  // Among nested labels it is the innermost with at least half of the time, among others the
  // longest.
  const bool around = !left_label_.empty() && label.since_ <= left_since_;
  if (length <= (around ? 2 * left_length_ : left_length_)) return;
  left_since_ = label.since_;
  left_length_ = length;
  left_label_ = label.Text();
}

LoopLabel::LoopLabel(std::string_view who, std::string_view what)
    : activity_(current), who_(who), what_(what) {
  if (activity_ != nullptr) activity_->Enter(*this);
}

LoopLabel::~LoopLabel() {
  if (activity_ != nullptr) activity_->Leave(*this);
}

std::string LoopLabel::Text() const {
  return who_.empty() ? std::string(what_) : StrCat(who_, ": ", what_);
}

}  // namespace mandate
