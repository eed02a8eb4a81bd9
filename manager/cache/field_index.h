// The objects of one store by the values of one field.
#ifndef MANAGER_CACHE_FIELD_INDEX_H_
#define MANAGER_CACHE_FIELD_INDEX_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "absl/container/node_hash_map.h"
#include "absl/status/statusor.h"
#include "manager/cache/object_set.h"
#include "manager/object/kind.h"

namespace mandate {

// An index that its readers fill. The thread that changes the store only notes which objects are
// unread; a reader takes them in slices, extracts their values without a lock, and brings the
// values back with Learn(). Each change is so extracted once, and never on the loop. Not
// thread-safe: the store guards it with its lock.
class FieldIndex {
 public:
  // The object has come to the store. An object of its key was removed before.
  void Put(const ObjectPtr& object);
  // The object has left the store.
  void Remove(const ObjectPtr& object);

  // At most `most` objects of `all`, the store's content, whose values are not known; none: the
  // index is complete. Two readers get the same objects only when no others are left.
  std::vector<ObjectPtr> TakeUnread(const ObjectSet& all, size_t most);
  // The values of an object that was taken. Does nothing when the object has changed meanwhile. An
  // error: the object may have any value.
  void Learn(const ObjectPtr& object, absl::StatusOr<std::vector<std::string>> values);

  // The objects with this value and those that may have any, sorted by key; `ns` empty: of all
  // namespaces. Correct only while the index is complete.
  std::vector<ObjectPtr> Find(std::string_view value, std::string_view ns) const;

 private:
  using Postings = absl::node_hash_map<std::string, ObjectSet>;
  using Posting = Postings::value_type;

  // Objects behind this key are unread, and noted nowhere: they are taken from the store.
  ObjectKey scanned_;
  ObjectSet unread_;
  ObjectSet taken_;      // unread, and a reader is extracting them
  ObjectSet uncertain_;  // that may have any value
  Postings postings_;    // without empty sets
  absl::flat_hash_map<const RawObject*, absl::InlinedVector<Posting*, 1>> of_object_;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_FIELD_INDEX_H_
