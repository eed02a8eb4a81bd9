// The objects of one store: sorted by key, and by the values of one field.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/statusor.h"
#include "manager/object/kind.h"
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

// An index that its readers fill. The thread that changes the store only notes which objects are
// unread. A reader takes them in slices, extracts their values without a lock, and stores the
// values with Learn(). So each changed object is extracted once, and never on the loop. Not
// thread-safe: the store guards it with its lock.
class FieldIndex {
 public:
  // The object was added to the store. An earlier object with its key was removed before.
  void Put(const ObjectPtr& object);
  // The object was removed from the store.
  void Remove(const ObjectPtr& object);
  // The store holds `copy` instead, which is the same version of the same object.
  void Swap(const ObjectPtr& object, const ObjectPtr& copy);

  // At most `most` objects of `all`, the store's content, whose values are unknown. If there are
  // none, the index is complete. Two readers get the same objects only if no others are left.
  std::vector<ObjectPtr> TakeUnread(const ObjectSet& all, size_t most);
  // Stores the values of an object that was taken. Does nothing if the object has changed since.
  // After an error, the object counts for every value.
  void Learn(const ObjectPtr& object, absl::StatusOr<std::vector<std::string>> values);

  // The objects with this value, and those that count for every value, sorted by key; `ns` empty:
  // of all namespaces. Correct only while the index is complete.
  std::vector<ObjectPtr> Find(std::string_view value, std::string_view ns) const;

  // A value as the index holds it: at most 96 bytes, a long one with its digest. The index counts
  // in no budget of memory, and a value of a megabyte may be that of an object which is packed in
  // 10 KB.
  static std::string HeldValue(std::string_view value);

 private:
  using Postings = absl::node_hash_map<std::string, ObjectSet>;
  using Posting = Postings::value_type;

  // Objects after this key are unread and not noted individually: they are taken from the store.
  ObjectKey scanned_;
  ObjectSet unread_;
  ObjectSet taken_;      // unread, and a reader is extracting them
  ObjectSet uncertain_;  // objects that count for every value
  Postings postings_;    // without empty sets
  absl::flat_hash_map<const RawObject*, absl::InlinedVector<Posting*, 1>> of_object_;
};

}  // namespace mandate
