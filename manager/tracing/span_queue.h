// Spans that have ended and are not sent yet.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "manager/core/trace.h"

namespace mandate {

// A bounded queue for each component: spans of one component never take the place of another's.
// Not thread-safe.
class SpanQueue {
 public:
  // `max_per_component` spans of each component are kept; at least 1.
  explicit SpanQueue(size_t max_per_component) : max_per_component_(max_per_component) {}

  // False: the component's queue is full, and the span, which is its newest, is dropped.
  [[nodiscard]] bool Add(FinishedSpan span);
  // At most `most` spans, the oldest of each component first. The components take turns, span by
  // span; the next batch continues with the component after the last.
  std::vector<FinishedSpan> TakeBatch(size_t most);

  size_t size() const { return size_; }
  // The queued spans of a component.
  size_t size(const std::string& component) const;

 private:
  const size_t max_per_component_;
  std::map<std::string, std::deque<FinishedSpan>> by_component_;  // none is empty
  std::string last_;  // the component of the last span that was taken
  size_t size_ = 0;
};

}  // namespace mandate
