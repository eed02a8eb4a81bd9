// Labels the work on a loop, so that the report of a long turn can name its cause.
//
//   LoopLabel label(component_, "initial list");   // until the end of the scope
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/time/time.h"
#include "manager/core/adaptive_mutex.h"
#include "manager/core/clock.h"

namespace mandate {

class LoopLabel;

// The current and the long turns of one loop, for other threads to read. Thread-safe; BeginTurn()
// and EndTurn() are for the loop's own thread.
class LoopActivity {
 public:
  // One turn: a task, the timers that were due, or a descriptor's callback.
  struct Turn {
    uint64_t number = 0;  // from 1
    absl::Duration length;
    // The innermost label that covered at least half of the turn, or "".
    std::string label;
  };
  struct View {
    std::optional<Turn> running;  // with its length so far
    // Turns of `limit` or longer that ended since the last call; at most kMaxEnded of them.
    std::vector<Turn> ended;
    uint64_t long_turns = 0;  // ever
  };
  static constexpr size_t kMaxEnded = 16;

  LoopActivity(const Clock& clock, absl::Duration limit);  // `clock` outlives this

  void BeginTurn();
  // Returns how long it was.
  absl::Duration EndTurn();

  View Look();
  // The label of the task that the calling thread runs, if it is in a turn of this loop; or "".
  std::string CurrentLabel();

  absl::Duration limit() const { return limit_; }

 private:
  friend class LoopLabel;

  void Enter(LoopLabel& label);
  void Leave(const LoopLabel& label);
  // The label with which a turn of this length is reported.
  std::string LabelOf(absl::Time now, absl::Duration length) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock& clock_;
  const absl::Duration limit_;
  AdaptiveMutex mutex_;
  uint64_t number_ ABSL_GUARDED_BY(mutex_) = 0;
  std::optional<absl::Time> began_ ABSL_GUARDED_BY(mutex_);
  const LoopLabel* innermost_ ABSL_GUARDED_BY(mutex_) = nullptr;
  // The label to report among those that ended in this turn.
  absl::Time left_since_ ABSL_GUARDED_BY(mutex_);
  absl::Duration left_length_ ABSL_GUARDED_BY(mutex_);
  std::string left_label_ ABSL_GUARDED_BY(mutex_);
  std::vector<Turn> ended_ ABSL_GUARDED_BY(mutex_);
  uint64_t long_turns_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Does nothing on a thread that is not in a loop's turn. Labels nest. A label belongs to one thread
// and one scope.
class LoopLabel {
 public:
  // Both texts outlive the label. Printed as "who: what".
  LoopLabel(std::string_view who, std::string_view what);
  explicit LoopLabel(std::string_view what) : LoopLabel("", what) {}
  ~LoopLabel();
  LoopLabel(const LoopLabel&) = delete;
  LoopLabel& operator=(const LoopLabel&) = delete;

 private:
  friend class LoopActivity;
  std::string Text() const;

  LoopActivity* const activity_;  // null: this thread is not in a turn
  const std::string_view who_;
  const std::string_view what_;
  absl::Time since_;
  const LoopLabel* outer_ = nullptr;
};

}  // namespace mandate
