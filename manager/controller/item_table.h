// Finds a work queue's items by their requests.
#ifndef MANAGER_CONTROLLER_ITEM_TABLE_H_
#define MANAGER_CONTROLLER_ITEM_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "manager/controller/item_pool.h"
#include "manager/controller/work_item.h"

namespace mandate {

// A hash table with linear probing whose slots hold an item's hash and index: what is not there, is
// put in, or is taken out, is one line of memory, which Prefetch() can have fetched. An item's
// place is by its hash's highest bits, so that growing goes through memory in order.
//
// Not thread-safe. The pool outlives it.
class ItemTable {
 public:
  explicit ItemTable(const ItemPool& pool) : pool_(pool) {}

  // The item of `request`, whose hash it is; nullptr: there is none.
  WorkItem* Find(const Request& request, uint32_t hash) const;
  // One whose request is not in it.
  void Insert(const WorkItem& item);
  void Erase(const WorkItem& item);
  void Prefetch(uint32_t hash) const {
    if (!slots_.empty()) __builtin_prefetch(&slots_[Home(hash)], 1);
  }

  size_t size() const { return size_; }
  // Erases all, and gives the memory back.
  void Clear();

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t used = 0;  // 1 + the item's index; 0: free
  };
  static constexpr int kFirstBits = 6;

  size_t Home(uint32_t hash) const { return hash >> shift_; }
  size_t Next(size_t i) const { return (i + 1) & (slots_.size() - 1); }
  void Grow();

  const ItemPool& pool_;
  std::vector<Slot> slots_;
  int shift_ = 32;
  size_t size_ = 0;
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_ITEM_TABLE_H_
