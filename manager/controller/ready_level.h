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
// order. A new namespace, and one that had no item, comes last. Each function takes constant time,
// if it does not say otherwise: a FlowQueue (manager/cache) would search for an item to remove it.
// The items outlive it. Not thread-safe.
class ReadyLevel {
 public:
  ReadyLevel() = default;
  ~ReadyLevel() { Clear(); }
  ReadyLevel(const ReadyLevel&) = delete;
  ReadyLevel& operator=(const ReadyLevel&) = delete;

  void Push(WorkItem& item);
  // It is not empty.
  WorkItem& Pop();
  void Remove(WorkItem& item);
  void Clear();  // in proportion to size()

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  // Calls `visit` with the items in the order in which Pop() would return them, until it returns
  // false. In proportion to the calls.
  void ForEach(absl::FunctionRef<bool(const WorkItem&)> visit) const;
  // Calls `visit` with the first item of each namespace.
  void ForEachFirst(absl::FunctionRef<void(const WorkItem&)> visit) const;

 private:
  struct Flow {
    WorkItem::List items;
    boost::intrusive::list_member_hook<> turn;
  };
  using Turns = boost::intrusive::list<
      Flow, boost::intrusive::member_hook<Flow, boost::intrusive::list_member_hook<>, &Flow::turn>>;

  void Drop(WorkItem& item, Flow& flow);

  absl::node_hash_map<std::string, Flow> flows_;  // by namespace; none is empty
  Turns turns_;                                   // all of them
  size_t size_ = 0;
};

}  // namespace mandate
