// The objects of one watch: one copy each, sorted by key.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/field_index.h"
#include "manager/cache/index.h"
#include "manager/core/mutex.h"

namespace mandate {

// A resource version as a number (KEP-5504). None for "", leading zeros, other characters, and
// numbers of more than 64 bits.
std::optional<uint64_t> ParseResourceVersion(std::string_view text);

// Whether `a` is older than `b`; false if they cannot be compared.
bool IsOlder(std::string_view a, std::string_view b);

// Appends the events that turn `old` into `now`, which have the same key; null means that the
// object does not exist. If UID and resourceVersion are unchanged, there is no event. If the UID
// changed, there are two: the delete, then the add.
void AppendChange(const ObjectPtr& old, const ObjectPtr& now, std::vector<ObjectEvent>& events);

// The objects of one watch, as undecoded bytes. Thread-safe; locks are held for the copy of
// pointers only. One thread writes, so that its events have one order.
class ObjectStore {
 public:
  struct Content {
    // If two objects have the same key, the last one counts.
    void Put(ObjectPtr object);

    ObjectSet objects;
    size_t bytes = 0;  // of the objects' encoded forms
  };
  // The changes that a new content made.
  struct Replaced {
    std::vector<ObjectEvent> events;
    // Set if there are more events than requested: the former content, instead of the events.
    std::shared_ptr<const ObjectSet> before;
  };

  // Null: the store does not have it.
  ObjectPtr Get(std::string_view ns, std::string_view name) const;
  // Sorted; `ns` empty: all namespaces.
  std::vector<ObjectPtr> List(std::string_view ns = "") const;
  // The next `most` objects after this one, in the order of keys; null: the first ones.
  std::vector<ObjectPtr> ListAfter(const ObjectPtr& object, size_t most) const;
  // A copy of all objects, which later changes do not affect.
  std::shared_ptr<const ObjectSet> Snapshot() const;

  // Adds an index, which ReadBy() and ListBy() can use from now on. The address of the definition
  // identifies the index. It costs the thread that changes the store almost nothing.
  void AddIndex(std::shared_ptr<const IndexDefinition> definition);
  void RemoveIndex(const IndexDefinition& definition);
  // The objects in `ns` (empty: in all namespaces) that have the value, and those whose values
  // cannot be extracted, sorted. The first call after a change extracts the values of the changed
  // objects, outside of the lock. If the store does not have the index, ReadBy() is kUnavailable
  // and ListBy() is empty.
  absl::StatusOr<std::vector<ObjectPtr>> ReadBy(const IndexDefinition& definition,
                                                std::string_view value, std::string_view ns) const;
  std::vector<ObjectPtr> ListBy(const IndexDefinition& definition, std::string_view value,
                                std::string_view ns) const;
  size_t size() const;
  size_t bytes() const;  // of the objects' encoded forms
  // The version up to which the objects are known; "" before the first Replace().
  std::string resource_version() const;
  // Whether the content is certainly no older than `resource_version`.
  bool HasReached(std::string_view resource_version) const;

  // Makes `objects` the content, as of `resource_version`, and returns the changes, including
  // deletes that no watch reported. An unchanged object stays the same copy. The first content
  // needs no comparison; each later one needs a comparison for each object.
  Replaced Replace(Content content, std::string resource_version,
                   size_t most_events = std::numeric_limits<size_t>::max());
  // A watch's ADDED or MODIFIED. No event for an object that is known already, or newer here.
  std::vector<ObjectEvent> Put(ObjectPtr object);
  // A watch's DELETED. No event for an object that is not here, or is newer here.
  std::vector<ObjectEvent> Remove(ObjectPtr object);
  void SetResourceVersion(std::string resource_version);
  // Returns the content, and leaves the store empty.
  Content Release();

 private:
  struct Index {
    std::shared_ptr<const IndexDefinition> definition;
    FieldIndex values;
  };

  void Note(const std::vector<ObjectEvent>& changes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // For the thread that writes: no other thread changes the objects.
  const ObjectSet& OwnObjects() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return objects_; }

  // The position of the object, or the position at which it would be inserted.
  ObjectSet::iterator Find(const ObjectPtr& object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  ObjectSet objects_ ABSL_GUARDED_BY(mutex_);
  // Readers fill them.
  mutable absl::flat_hash_map<const IndexDefinition*, Index> indexes_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::string resource_version_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate
