// A queue whose items come in flows, where one that hangs holds up only its own flow.
#ifndef MANAGER_CONTROLLER_FAIR_QUEUE_H_
#define MANAGER_CONTROLLER_FAIR_QUEUE_H_

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace mandate {

// Flows take turns; within one, items are in order. What is in flight has a place; what is there
// for long gives its place up, and is slow from then on. Not thread-safe.
template <typename Item>
class FairQueue {
 public:
  struct Limits {
    size_t places = 4;  // of each flow too, where slow ones count
    size_t slow = 32;   // beyond which nothing more is sent
  };

  explicit FairQueue(const Limits& limits) : limits_(limits) {}

  void Push(const std::string& flow, Item item) {
    const auto it = flows_.try_emplace(flow).first;
    it->second.waiting.push_back(std::move(item));
    ++waiting_;
    Schedule(it);
  }

  // Is in flight from then on, until Done(). None: nothing waits, or may be sent now, with at most
  // `places` in use.
  std::optional<Item> Next(size_t places) {
    if (turns_.empty() || slow_ >= limits_.slow ||
        in_flight_ - slow_ >= std::min(places, limits_.places)) {
      return std::nullopt;
    }
    const auto it = turns_.front();
    turns_.pop_front();
    Flow& flow = it->second;
    flow.has_turn = false;
    Item item = std::move(flow.waiting.front());
    flow.waiting.pop_front();
    --waiting_;
    ++flow.in_flight;
    ++in_flight_;
    Schedule(it);
    return item;
  }

  // One of those in flight gives up its place.
  void NoteSlow() { ++slow_; }

  void Done(const std::string& flow, bool was_slow) {
    const auto it = flows_.find(flow);
    --it->second.in_flight;
    --in_flight_;
    if (was_slow) --slow_;
    Schedule(it);
  }

  // Takes the newest item of the longest flow back, if more wait there than in `flow`.
  std::optional<Item> DropFor(const std::string& flow) {
    // O(flows), once the queue is full.
    const auto longest =
        std::max_element(flows_.begin(), flows_.end(), [](const auto& a, const auto& b) {
          return a.second.waiting.size() < b.second.waiting.size();
        });
    const auto own = flows_.find(flow);
    const size_t own_size = own == flows_.end() ? 0 : own->second.waiting.size();
    if (longest == flows_.end() || longest->second.waiting.size() <= own_size + 1) {
      return std::nullopt;
    }
    Item item = std::move(longest->second.waiting.back());
    longest->second.waiting.pop_back();
    --waiting_;
    return item;
  }

  size_t waiting() const { return waiting_; }
  size_t in_flight() const { return in_flight_; }

 private:
  struct Flow {
    std::deque<Item> waiting;
    size_t in_flight = 0;
    bool has_turn = false;
  };
  using Flows = std::map<std::string, Flow>;

  void Schedule(typename Flows::iterator it) {
    Flow& flow = it->second;
    if (flow.waiting.empty() && flow.in_flight == 0) {
      flows_.erase(it);
    } else if (!flow.has_turn && !flow.waiting.empty() && flow.in_flight < limits_.places) {
      flow.has_turn = true;
      turns_.push_back(it);
    }
  }

  const Limits limits_;
  Flows flows_;                                 // that have items
  std::deque<typename Flows::iterator> turns_;  // of those that may send
  size_t waiting_ = 0;
  size_t in_flight_ = 0;
  size_t slow_ = 0;  // of those
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_FAIR_QUEUE_H_
