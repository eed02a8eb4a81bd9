// A queue of items in flows: an item that hangs holds up only its own flow.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace mandate {

// Flows take turns; within a flow, items are in order. An item in flight has a place. An item that
// stays long gives up its place and is slow from then on: its flow hangs until one of its items is
// sent successfully. A hanging flow has one item in flight, which is slow from the start, so that
// other flows need not wait for it. Not thread-safe.
template <typename Item>
class FairQueue {
 public:
  struct Limits {
    size_t max_in_flight = 4;  // also of each flow, where slow items count too
    size_t max_slow = 32;  // at so many nothing is sent; at half of them nothing of a hanging flow
  };
  struct Sent {
    Item item;
    bool slow = false;
  };

  explicit FairQueue(const Limits& limits) : limits_(limits) {}

  // `hung`: an earlier attempt of this item was slow and failed.
  void Push(const std::string& flow, Item item, bool hung = false) {
    const auto it = flows_.try_emplace(flow).first;
    if (hung) SetHangs(it, true);
    it->second.waiting.push_back(std::move(item));
    ++waiting_;
    Schedule(it);
  }

  // The next item; it is in flight until Done(). None if no item waits, or none may be sent now
  // with at most `places` in use.
  std::optional<Sent> Next(size_t places) {
    if (!turns_.empty() && slow_ < limits_.max_slow &&
        in_flight_ - slow_ < std::min(places, limits_.max_in_flight)) {
      return Take(turns_, /*slow=*/false);
    }
    const bool has_place = places >= limits_.max_in_flight || in_flight_ < places;
    if (!hanging_turns_.empty() && 2 * slow_ < limits_.max_slow && has_place) {
      return Take(hanging_turns_, /*slow=*/true);
    }
    return std::nullopt;
  }

  // An item in flight gives up its place.
  void MarkSlow(const std::string& flow) {
    ++slow_;
    const auto it = flows_.find(flow);
    SetHangs(it, true);
    Schedule(it);
  }

  void Done(const std::string& flow, bool was_slow, bool ok) {
    const auto it = flows_.find(flow);
    --it->second.in_flight;
    --in_flight_;
    if (was_slow) --slow_;
    if (ok) SetHangs(it, false);
    Schedule(it);
  }

  // Removes the newest item of the longest flow, if more items wait there than in `flow`.
  std::optional<Item> EvictFromLongestFlow(const std::string& flow) {
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
    bool hangs = false;
  };
  using Flows = std::map<std::string, Flow>;
  using Turns = std::deque<typename Flows::iterator>;

  Sent Take(Turns& turns, bool slow) {
    const auto it = turns.front();
    turns.pop_front();
    Flow& flow = it->second;
    flow.has_turn = false;
    Sent sent = {std::move(flow.waiting.front()), slow};
    flow.waiting.pop_front();
    --waiting_;
    ++flow.in_flight;
    ++in_flight_;
    if (slow) ++slow_;
    Schedule(it);
    return sent;
  }

  // The caller calls Schedule() next.
  void SetHangs(typename Flows::iterator it, bool hangs) {
    Flow& flow = it->second;
    if (std::exchange(flow.hangs, hangs) == hangs) return;
    if (std::exchange(flow.has_turn, false)) std::erase(hangs ? turns_ : hanging_turns_, it);
  }

  void Schedule(typename Flows::iterator it) {
    Flow& flow = it->second;
    if (flow.waiting.empty() && flow.in_flight == 0) {
      flows_.erase(it);
    } else if (!flow.has_turn && !flow.waiting.empty() &&
               flow.in_flight < (flow.hangs ? 1 : limits_.max_in_flight)) {
      flow.has_turn = true;
      (flow.hangs ? hanging_turns_ : turns_).push_back(it);
    }
  }

  const Limits limits_;
  Flows flows_;                  // flows with items
  Turns turns_, hanging_turns_;  // flows that may send
  size_t waiting_ = 0;
  size_t in_flight_ = 0;
  size_t slow_ = 0;  // of those
};

}  // namespace mandate
