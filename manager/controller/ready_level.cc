#include "manager/controller/ready_level.h"

#include <iterator>
#include <vector>

namespace mandate {

void ReadyLevel::Push(WorkItem& item, bool is_held) {
  Flow& flow = flows_[item.request().key.ns];
  if (flow.items.empty()) {
    flow.is_held = is_held;
    TurnsOf(flow).push_back(flow);
  }
  flow.items.push_back(item);
  ++size_;
  if (flow.is_held) ++held_size_;
}

WorkItem& ReadyLevel::Pop() {
  Flow& flow = turns_.front();
  turns_.pop_front();
  turns_.push_back(flow);
  WorkItem& item = flow.items.front();
  Drop(item, flow);
  return item;
}

void ReadyLevel::Remove(WorkItem& item) { Drop(item, flows_.find(item.request().key.ns)->second); }

void ReadyLevel::Drop(WorkItem& item, Flow& flow) {
  flow.items.erase(flow.items.iterator_to(item));
  --size_;
  if (flow.is_held) --held_size_;
  if (!flow.items.empty()) return;
  Turns& turns = TurnsOf(flow);
  turns.erase(turns.iterator_to(flow));
  flows_.erase(item.request().key.ns);
}

void ReadyLevel::SetHeld(const std::string& ns, bool is_held) {
  const auto it = flows_.find(ns);
  if (it == flows_.end()) return;
  Flow& flow = it->second;
  Turns& before = TurnsOf(flow);
  before.erase(before.iterator_to(flow));
  flow.is_held = is_held;
  TurnsOf(flow).push_back(flow);
  is_held ? held_size_ += flow.items.size() : held_size_ -= flow.items.size();
}

void ReadyLevel::Clear() {
  turns_.clear();
  held_.clear();
  for (auto& [ns, flow] : flows_) flow.items.clear();
  flows_.clear();
  size_ = held_size_ = 0;
}

void ReadyLevel::ForEach(absl::FunctionRef<bool(const WorkItem&)> visit) const {
  if (ForEach(turns_, visit)) ForEach(held_, visit);
}

bool ReadyLevel::ForEach(const Turns& turns, absl::FunctionRef<bool(const WorkItem&)> visit) {
  struct Rest {
    WorkItem::List::const_iterator next, end;
  };
  std::vector<Rest> rests;
  for (const Flow& flow : turns) {
    if (!visit(flow.items.front())) return false;
    if (flow.items.size() > 1) rests.push_back({std::next(flow.items.begin()), flow.items.end()});
  }
  while (!rests.empty()) {
    for (Rest& rest : rests) {
      if (!visit(*rest.next++)) return false;
    }
    std::erase_if(rests, [](const Rest& rest) { return rest.next == rest.end; });
  }
  return true;
}

void ReadyLevel::ForEachFirst(absl::FunctionRef<void(const WorkItem&)> visit) const {
  for (const Turns* turns : {&turns_, &held_}) {
    for (const Flow& flow : *turns) visit(flow.items.front());
  }
}

}  // namespace mandate
