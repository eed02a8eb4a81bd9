#include "manager/controller/ready_level.h"

#include <iterator>
#include <vector>

namespace mandate {

void ReadyLevel::Push(WorkItem& item) {
  Flow& flow = flows_[item.request().key.ns];
  if (flow.items.empty()) turns_.push_back(flow);
  flow.items.push_back(item);
  ++size_;
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
  if (!flow.items.empty()) return;
  turns_.erase(turns_.iterator_to(flow));
  flows_.erase(item.request().key.ns);
}

void ReadyLevel::Clear() {
  turns_.clear();
  for (auto& [ns, flow] : flows_) flow.items.clear();
  flows_.clear();
  size_ = 0;
}

void ReadyLevel::ForEach(absl::FunctionRef<bool(const WorkItem&)> visit) const {
  struct Rest {
    WorkItem::List::const_iterator next, end;
  };
  std::vector<Rest> rests;
  for (const Flow& flow : turns_) {
    if (!visit(flow.items.front())) return;
    if (flow.items.size() > 1) rests.push_back({std::next(flow.items.begin()), flow.items.end()});
  }
  while (!rests.empty()) {
    for (Rest& rest : rests) {
      if (!visit(*rest.next++)) return;
    }
    std::erase_if(rests, [](const Rest& rest) { return rest.next == rest.end; });
  }
}

void ReadyLevel::ForEachFirst(absl::FunctionRef<void(const WorkItem&)> visit) const {
  for (const Flow& flow : turns_) visit(flow.items.front());
}

}  // namespace mandate
