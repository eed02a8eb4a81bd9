// The memory of a work queue's items.
#ifndef MANAGER_CONTROLLER_ITEM_POOL_H_
#define MANAGER_CONTROLLER_ITEM_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "manager/controller/work_item.h"

namespace mandate {

// Items that are free are used again, with the memory of their strings. Not thread-safe.
class ItemPool {
 public:
  // Has at most so many.
  explicit ItemPool(size_t max_items) : max_items_(max_items) {}

  // Makes items until so many are free, as far as it may.
  void Reserve(size_t count) {
    while (free_.size() < count && made_ < max_items_) Grow();
  }
  // Those that are; who takes one removes it.
  std::vector<WorkItem*>& free() { return free_; }

  WorkItem& operator[](uint32_t index) const { return chunks_[index / kChunk][index % kChunk]; }

  size_t made() const { return made_; }
  bool AllFree() const { return free_.size() == made_; }
  // Gives all memory back. All must be free.
  void Clear() {
    free_ = std::vector<WorkItem*>();
    chunks_ = std::vector<std::unique_ptr<WorkItem[]>>();
    made_ = 0;
  }

 private:
  static constexpr size_t kChunk = 32;

  void Grow() {
    chunks_.push_back(std::make_unique<WorkItem[]>(kChunk));
    for (size_t i = 0; i < kChunk && made_ < max_items_; ++i) {
      WorkItem& item = chunks_.back()[i];
      item.index_ = static_cast<uint32_t>(made_++);
      free_.push_back(&item);
    }
  }

  const size_t max_items_;
  std::vector<std::unique_ptr<WorkItem[]>> chunks_;
  std::vector<WorkItem*> free_;
  size_t made_ = 0;
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_ITEM_POOL_H_
