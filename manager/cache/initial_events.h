// What a demand is told when it joins: every object that is there, as an add.
#ifndef MANAGER_CACHE_INITIAL_EVENTS_H_
#define MANAGER_CACHE_INITIAL_EVENTS_H_

#include <memory>
#include <utility>
#include <vector>

#include "manager/cache/cache.h"
#include "manager/cache/store.h"

namespace mandate {

// Made once for all who join between two changes: the components of a process begin together, and
// to copy and to give back a pointer to each object costs more than to tell of it. Whoever changes
// the store says so with Forget(), and whoever knows that nobody is about to join: the events take
// 48 bytes an object. Loop thread only.
class InitialEvents {
 public:
  explicit InitialEvents(std::shared_ptr<const ObjectStore> store) : store_(std::move(store)) {}

  // Sorted by key.
  std::shared_ptr<const std::vector<ObjectEvent>> Get() {
    if (events_ == nullptr) events_ = Make();
    return events_;
  }
  void Forget() { events_.reset(); }

 private:
  std::shared_ptr<const std::vector<ObjectEvent>> Make() const {
    std::vector<ObjectPtr> objects = store_->List();
    auto events = std::make_shared<std::vector<ObjectEvent>>();
    events->reserve(objects.size());
    for (ObjectPtr& object : objects) {
      events->push_back({.type = ObjectEvent::Type::kAdd,
                         .object = std::move(object),
                         .old = nullptr,
                         .initial = true});
    }
    return events;
  }

  const std::shared_ptr<const ObjectStore> store_;
  std::shared_ptr<const std::vector<ObjectEvent>> events_;  // null: none are kept
};

}  // namespace mandate

#endif  // MANAGER_CACHE_INITIAL_EVENTS_H_
