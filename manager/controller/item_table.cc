#include "manager/controller/item_table.h"

#include <utility>

namespace mandate {

WorkItem* ItemTable::Find(const Request& request, uint32_t hash) const {
  if (slots_.empty()) return nullptr;
  for (size_t i = Home(hash); slots_[i].used != 0; i = Next(i)) {
    if (slots_[i].hash != hash) continue;
    WorkItem& item = pool_[slots_[i].used - 1];
    if (item.request_ == request) return &item;
  }
  return nullptr;
}

void ItemTable::Insert(const WorkItem& item) {
  if (size_ + size_ / 2 >= slots_.size()) Grow();
  size_t i = Home(item.hash_);
  while (slots_[i].used != 0) i = Next(i);
  slots_[i] = {item.hash_, item.index_ + 1};
  ++size_;
}

void ItemTable::Erase(const WorkItem& item) {
  size_t hole = Home(item.hash_);
  while (slots_[hole].used != item.index_ + 1) hole = Next(hole);
  // What comes after moves up, unless it would be before its home then.
  for (size_t i = Next(hole); slots_[i].used != 0; i = Next(i)) {
    const size_t mask = slots_.size() - 1;
    const size_t from_home = (i - Home(slots_[i].hash)) & mask;
    if (from_home < ((i - hole) & mask)) continue;
    slots_[hole] = slots_[i];
    hole = i;
  }
  slots_[hole] = {};
  --size_;
}

void ItemTable::Clear() {
  slots_ = std::vector<Slot>();
  shift_ = 32;
  size_ = 0;
}

void ItemTable::Grow() {
  const std::vector<Slot> old = std::move(slots_);
  shift_ = old.empty() ? 32 - kFirstBits : shift_ - 1;
  slots_ = std::vector<Slot>(size_t{1} << (32 - shift_));
  for (const Slot& slot : old) {
    if (slot.used == 0) continue;
    size_t i = Home(slot.hash);
    while (slots_[i].used != 0) i = Next(i);
    slots_[i] = slot;
  }
}

}  // namespace mandate
