#include "manager/tracing/span_queue.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace mandate {

bool SpanQueue::Add(FinishedSpan span) {
  std::deque<FinishedSpan>& queue = by_component_[span.component];
  if (queue.size() >= max_per_component_) return false;
  queue.push_back(std::move(span));
  ++size_;
  return true;
}

std::vector<FinishedSpan> SpanQueue::TakeBatch(size_t most) {
  std::vector<FinishedSpan> batch;
  batch.reserve(std::min(most, size_));
  auto turn = by_component_.upper_bound(last_);
  while (batch.size() < most && size_ > 0) {
    if (turn == by_component_.end()) turn = by_component_.begin();
    last_ = turn->first;
    batch.push_back(std::move(turn->second.front()));
    turn->second.pop_front();
    --size_;
    turn = turn->second.empty() ? by_component_.erase(turn) : std::next(turn);
  }
  return batch;
}

size_t SpanQueue::size(const std::string& component) const {
  const auto found = by_component_.find(component);
  return found == by_component_.end() ? 0 : found->second.size();
}

}  // namespace mandate
