// Makes and reads work items without a queue.
#ifndef MANAGER_CONTROLLER_TESTING_WORK_ITEM_PEER_H_
#define MANAGER_CONTROLLER_TESTING_WORK_ITEM_PEER_H_

#include <cstdint>

#include "manager/controller/work_item.h"

namespace mandate {

class WorkItemPeer {
 public:
  static void Set(WorkItem& item, const Request& request, uint32_t hash) {
    item.request_ = request;
    item.hash_ = hash;
  }
  static uint32_t hash(const WorkItem& item) { return item.hash_; }
  static int added_priority(const WorkItem& item) { return item.priority_; }
  static int64_t since(const WorkItem& item) { return item.since_; }
  static uint32_t index(const WorkItem& item) { return item.index_; }
};

}  // namespace mandate

#endif  // MANAGER_CONTROLLER_TESTING_WORK_ITEM_PEER_H_
