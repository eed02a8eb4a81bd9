// The ready requests of one priority.
#pragma once

#include <cstddef>
#include <string>

#include "absl/container/node_hash_map.h"
#include "absl/functional/function_ref.h"
#include "boost/intrusive/list.hpp"
#include "manager/controller/work_item.h"

namespace mandate {

// Namespaces take turns, and each gives one item in turn. Within a namespace the items are in
// order. A new namespace, one that had no item, and one that was held come last. Each function
// takes constant time, if it does not say otherwise: a FlowQueue (manager/cache) would search for
// an item to remove it. The items outlive it. Not thread-safe.
class ReadyLevel {
 public:
  ReadyLevel() = default;
  ~ReadyLevel() { Clear(); }
  ReadyLevel(const ReadyLevel&) = delete;
  ReadyLevel& operator=(const ReadyLevel&) = delete;

  // is_held: the namespace has no turn, as after SetHeld().
  void Push(WorkItem& item, bool is_held = false);
  // HasTurn().
  WorkItem& Pop();
  void Remove(WorkItem& item);
  void Clear();  // in proportion to size()

  // While a namespace is held it has no turn. To be called for each change.
  void SetHeld(const std::string& ns, bool is_held);

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // Whether a namespace that is not held has an item; how many items these have.
  bool HasTurn() const { return !turns_.empty(); }
  size_t available() const { return size_ - held_size_; }

  // Calls `visit` with the items in the order in which Pop() would return them, those that are held
  // last, until it returns false. In proportion to the calls.
  void ForEach(absl::FunctionRef<bool(const WorkItem&)> visit) const;
  // Calls `visit` with the first item of each namespace.
  void ForEachFirst(absl::FunctionRef<void(const WorkItem&)> visit) const;

 private:
  struct Flow {
    WorkItem::List items;
    bool is_held = false;  // in held_, else in turns_
    boost::intrusive::list_member_hook<> turn;
  };
  using Turns = boost::intrusive::list<
      Flow, boost::intrusive::member_hook<Flow, boost::intrusive::list_member_hook<>, &Flow::turn>>;

  // Returns false if `visit` did.
  static bool ForEach(const Turns& turns, absl::FunctionRef<bool(const WorkItem&)> visit);
  Turns& TurnsOf(const Flow& flow) { return flow.is_held ? held_ : turns_; }
  void Drop(WorkItem& item, Flow& flow);

  absl::node_hash_map<std::string, Flow> flows_;  // by namespace; none is empty
  Turns turns_;                                   // those that are not held
  Turns held_;                                    // the others
  size_t size_ = 0;
  size_t held_size_ = 0;  // of those that are held
};

}  // namespace mandate
