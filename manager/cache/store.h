// The objects of one watch: one copy each, sorted by key.
#pragma once

#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/field_index.h"
#include "manager/cache/index.h"
#include "manager/cache/reflector_target.h"
#include "manager/core/mutex.h"
#include "manager/object/resource_version.h"

namespace mandate {

// Whether both are the same version of the same object.
bool SameVersion(const RawObject& a, const RawObject& b);

// Appends the events that turn `old` into `now`, which have the same key; null means that the
// object does not exist. If UID and resourceVersion are unchanged, there is no event. If the UID
// changed, there are two: the delete, then the add.
void AppendChange(const ObjectPtr& old, const ObjectPtr& now, std::vector<ObjectEvent>& events);

// The objects of one watch, as undecoded bytes. Thread-safe; locks are held for the copy of
// pointers only. One thread writes, so that its events have one order.
class ObjectStore : public ReflectorTarget {
 public:
  using Content = ReflectorTarget::Content;
  using Replaced = ReflectorTarget::Replaced;

  // Stores that share a mutex can be changed in one step (kind_store.h).
  explicit ObjectStore(std::shared_ptr<Mutex> mutex = std::make_shared<Mutex>())
      : keep_(std::move(mutex)), mutex_(*keep_) {}

  // Null: the store does not have it.
  ObjectPtr Get(std::string_view ns, std::string_view name) const;
  // Sorted; `ns` empty: all namespaces.
  std::vector<ObjectPtr> List(std::string_view ns = "") const;
  // The next `most` objects after this one, in the order of keys; null: the first ones.
  std::vector<ObjectPtr> ListAfter(const ObjectPtr& object, size_t most) const;
  // A copy of all objects, which later changes do not affect.
  std::shared_ptr<const ObjectSet> Snapshot() const;

  // Adds an index, which ReadBy() and ListByIndex() can use from now on. The address of the
  // definition identifies the index. It costs the thread that changes the store almost nothing.
  void AddIndex(std::shared_ptr<const IndexDefinition> definition);
  void RemoveIndex(const IndexDefinition& definition);
  // The objects in `ns` (empty: in all namespaces) that have the value, and those whose values
  // cannot be extracted, sorted. The first call after a change extracts the values of the changed
  // objects, outside of the lock. If the store does not have the index, ReadBy() is kUnavailable
  // and ListByIndex() is empty.
  absl::StatusOr<std::vector<ObjectPtr>> ReadBy(const IndexDefinition& definition,
                                                std::string_view value, std::string_view ns) const;
  std::vector<ObjectPtr> ListByIndex(const IndexDefinition& definition, std::string_view value,
                                     std::string_view ns) const;
  size_t size() const override;
  ObjectBytes bytes() const override;
  // The version up to which the objects are known; "" before the first Replace().
  std::string resource_version() const;
  // From now on the version is that of `other`, which has the same mutex. Null: its own again.
  void FollowVersionOf(std::shared_ptr<const ObjectStore> other);
  // Whether the content is certainly no older than `resource_version`.
  bool HasReached(std::string_view resource_version) const;

  Replaced Replace(Content content, std::string resource_version,
                   size_t most_events = std::numeric_limits<size_t>::max()) override;
  std::vector<ObjectEvent> Put(ObjectPtr object) override;
  std::vector<ObjectEvent> Remove(ObjectPtr object) override;
  void SetResourceVersion(std::string resource_version) override;
  // Returns the content, and leaves the store empty.
  Content Release();

 private:
  friend class KindStore;

  // As the functions without Locked. `update` runs under the lock, in the same step. `copies`: an
  // unchanged object keeps its present copy. It must not if the content is of another history of
  // the server, where the same version may have another content.
  Replaced ReplaceWithUpdate(Content content, std::string resource_version, size_t most_events,
                             bool copies, absl::FunctionRef<void()> update);
  std::vector<ObjectEvent> PutLocked(ObjectPtr object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::vector<ObjectEvent> RemoveLocked(ObjectPtr object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Holds `copy`, the same version of the same object, instead of `held`, if it holds that.
  void SwapLocked(const ObjectPtr& held, const ObjectPtr& copy)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  struct Index {
    std::shared_ptr<const IndexDefinition> definition;
    FieldIndex values;
  };

  // Both have the same mutex.
  const std::string& VersionLocked() const ABSL_NO_THREAD_SAFETY_ANALYSIS {
    return followed_ == nullptr ? resource_version_ : followed_->resource_version_;
  }
  void Note(const std::vector<ObjectEvent>& changes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // For the thread that writes: no other thread changes the objects.
  const ObjectSet& OwnObjects() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return objects_; }

  // The position of the object, or the position at which it would be inserted.
  ObjectSet::iterator Find(const ObjectPtr& object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::shared_ptr<Mutex> keep_;
  Mutex& mutex_;
  ObjectSet objects_ ABSL_GUARDED_BY(mutex_);
  // Readers fill them.
  mutable absl::flat_hash_map<const IndexDefinition*, Index> indexes_ ABSL_GUARDED_BY(mutex_);
  ObjectBytes bytes_ ABSL_GUARDED_BY(mutex_);
  std::string resource_version_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const ObjectStore> followed_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate
