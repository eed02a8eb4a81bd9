// Sets of objects, sorted by key, for stores and indexes.
#ifndef MANAGER_CACHE_OBJECT_SET_H_
#define MANAGER_CACHE_OBJECT_SET_H_

#include <memory>
#include <string_view>
#include <utility>

#include "absl/container/btree_set.h"
#include "manager/object/raw_object.h"

namespace mandate {

using ObjectPtr = std::shared_ptr<const RawObject>;

// A place in an ObjectSet; another object of the same key may replace its object.
struct ObjectSlot {
  ObjectSlot(ObjectPtr o) : object(std::move(o)) {}

  mutable ObjectPtr object;
};

// By namespace, then name; also against a key.
struct ObjectLess {
  using is_transparent = void;
  using Key = std::pair<std::string_view, std::string_view>;

  static Key Of(const ObjectPtr& object) { return {object->ns(), object->name()}; }
  static Key Of(const ObjectSlot& slot) { return Of(slot.object); }
  static Key Of(const Key& key) { return key; }
  template <class A, class B>
  bool operator()(const A& a, const B& b) const {
    return Of(a) < Of(b);
  }
};

using ObjectSet = absl::btree_set<ObjectSlot, ObjectLess>;

}  // namespace mandate

#endif  // MANAGER_CACHE_OBJECT_SET_H_
