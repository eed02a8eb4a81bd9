// A queue of items in flows, which take turns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace mandate {

// Each flow gives one item in turn; within a flow, items are in order. So a flow with many items
// delays the items of another one by at most one turn each. A new flow, and one that was empty,
// comes last. Not thread-safe.
template <typename Item>
class FlowQueue {
 public:
  void Push(std::string flow, Item item) {
    const auto at = flows_.try_emplace(std::move(flow)).first;
    if (at->second.empty()) turns_.push_back(at);
    at->second.push_back(std::move(item));
    ++size_;
  }

  struct Popped {
    std::string flow;
    Item item;
  };

  // Returns the item of the first flow for which `may` is true. The flows before it keep their
  // turns, and each of them costs time. Nullopt: no flow may.
  template <typename Predicate>
  std::optional<Popped> Pop(Predicate may) {
    const auto turn = std::ranges::find_if(turns_, [&](const auto& at) { return may(at->first); });
    if (turn == turns_.end()) return std::nullopt;
    const auto at = *turn;
    turns_.erase(turn);
    Popped popped = {at->first, std::move(at->second.front())};
    at->second.pop_front();
    --size_;
    if (at->second.empty()) {
      flows_.erase(at);
    } else {
      turns_.push_back(at);
    }
    return popped;
  }

  // Takes time in proportion to size().
  template <typename Predicate>
  void EraseIf(Predicate predicate) {
    for (auto& [flow, items] : flows_) size_ -= std::erase_if(items, predicate);
    std::erase_if(turns_, [](const auto& at) { return at->second.empty(); });
    std::erase_if(flows_, [](const auto& flow) { return flow.second.empty(); });
  }

  size_t size() const { return size_; }

 private:
  using Flows = std::map<std::string, std::deque<Item>>;

  Flows flows_;                                 // with items
  std::deque<typename Flows::iterator> turns_;  // each of them once
  size_t size_ = 0;
};

}  // namespace mandate
