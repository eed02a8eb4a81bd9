// The objects of one watch: one copy each, sorted by key.
#ifndef MANAGER_CACHE_STORE_H_
#define MANAGER_CACHE_STORE_H_

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/field_index.h"
#include "manager/cache/index.h"
#include "manager/cache/object_set.h"
#include "manager/core/mutex.h"
#include "manager/object/unreadable.h"

namespace mandate {

// Appends what turns `old` into `now`, of one key; null: there is none. Nothing for an object that
// kept its UID and resourceVersion; for another object under the same name the delete, then the
// add.
void AppendChange(const ObjectPtr& old, const ObjectPtr& now, std::vector<ObjectEvent>& events);

// What is there and cannot be read is neither absent nor as it was: its last readable state stays,
// no delete is made of it, and reads of its key are errors until it can be read again or is gone.
// Thread-safe; locks are held for the copy of pointers only. Who writes does so from one thread, so
// that its events have one order.
class ObjectStore {
 public:
  struct Content {
    // Of two objects of one key the last one counts.
    void Put(ObjectPtr object);

    ObjectSet objects;
    size_t bytes = 0;  // of the objects' encoded forms
    std::vector<UnreadableObject> unreadable;
  };
  // What a new content has changed.
  struct Replaced {
    std::vector<ObjectEvent> events;
    // Set when there are more events than were wished: the former content instead of the events.
    std::shared_ptr<const ObjectSet> before;
  };

  // To decide by: null is absent, for certain. kDataLoss: there, or perhaps there, and unreadable.
  absl::StatusOr<ObjectPtr> Read(std::string_view ns, std::string_view name) const;
  // The same of all in `ns`, sorted; empty: of all namespaces.
  absl::StatusOr<std::vector<ObjectPtr>> ReadAll(std::string_view ns = "") const;

  // What was last seen. Null: nothing.
  ObjectPtr Get(std::string_view ns, std::string_view name) const;
  // What was last seen, sorted; `ns` empty: all namespaces.
  std::vector<ObjectPtr> List(std::string_view ns = "") const;
  // The next `most` objects behind this one in the order of keys; null: the first ones.
  std::vector<ObjectPtr> ListAfter(const ObjectPtr& object, size_t most) const;
  // All of them, as a copy that stays as it is.
  std::shared_ptr<const ObjectSet> Snapshot() const;

  // From here on ReadBy() and ListBy() answer for this index, which the store knows by the address
  // of its definition; to add it, and to keep it, costs the thread that changes the store next to
  // nothing.
  void AddIndex(std::shared_ptr<const IndexDefinition> definition);
  void RemoveIndex(const IndexDefinition& definition);
  // The objects in `ns` (empty: in all namespaces) that have the value, and those whose values
  // cannot be extracted, sorted. The first call after a change extracts the values of what has
  // changed, outside of the lock. ReadBy(): to decide by; errors are those of ReadAll(), and
  // kUnavailable when the store does not have the index. ListBy(): what was last seen, with the
  // marked objects, which may have any value by now.
  absl::StatusOr<std::vector<ObjectPtr>> ReadBy(const IndexDefinition& definition,
                                                std::string_view value, std::string_view ns) const;
  std::vector<ObjectPtr> ListBy(const IndexDefinition& definition, std::string_view value,
                                std::string_view ns) const;
  size_t size() const;
  size_t bytes() const;  // of the objects' encoded forms
  size_t unreadable() const;
  // kDataLoss names an object that cannot be read; OK: there is none.
  absl::Status WhyUnreadable() const;
  // Up to which the objects are known; "" before the first Replace().
  std::string resource_version() const;
  // Whether the content is certainly no older than `resource_version`.
  bool HasReached(std::string_view resource_version) const;

  // Mark and sweep: makes this the content, as of `resource_version`, and returns what changed,
  // the deletes that no watch told included. An object that did not change stays the same copy.
  // While one of `unreadable` is not identified, it may be any that is missing, so that nothing is
  // deleted. A first content costs nothing; another one costs a comparison an object.
  Replaced Replace(Content content, std::string resource_version,
                   size_t most_events = std::numeric_limits<size_t>::max());
  // A watch's ADDED or MODIFIED. Nothing for what is known already or newer here.
  std::vector<ObjectEvent> Put(ObjectPtr object);
  // A watch's DELETED. Nothing for an object that is not here, or is newer here.
  std::vector<ObjectEvent> Remove(ObjectPtr object);
  // The same of one that cannot be read. Unless it is identified, it may be any that is not here.
  void PutUnreadable(UnreadableObject object);
  std::vector<ObjectEvent> RemoveUnreadable(const UnreadableObject& object);
  void SetResourceVersion(std::string resource_version);
  // What it holds; it is empty then.
  Content Release();

 private:
  using Unreadable = std::map<ObjectKey, UnreadableObject>;
  struct Index {
    std::shared_ptr<const IndexDefinition> definition;
    FieldIndex values;
  };

  // Why the objects of `ns` cannot be decided by; OK when they can.
  absl::Status Readable(std::string_view ns) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Adds the last readable states of the marked objects of `ns` to `objects`, sorted.
  void AddMarked(std::string_view ns, std::vector<ObjectPtr>& objects) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Note(const std::vector<ObjectEvent>& changes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // For the thread that writes: no other thread changes the objects.
  const ObjectSet& OwnObjects() const ABSL_NO_THREAD_SAFETY_ANALYSIS { return objects_; }
  // Keeps in `content` what it does not prove to be absent: objects of unreadable marks, and all
  // objects while one is not identified, which get marks then.
  void KeepUnproven(const absl::Status& unidentified, Unreadable& marks, Content& content) const;
  absl::StatusOr<std::vector<ObjectPtr>> FindBy(const IndexDefinition& definition,
                                                std::string_view value, std::string_view ns,
                                                bool decide) const;

  // Where the object is, or belongs.
  ObjectSet::iterator Find(const ObjectPtr& object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Forgets that the object of this key cannot be read; false when that is newer than this version.
  bool Settle(std::string_view ns, std::string_view name, std::string_view resource_version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  ObjectSet objects_ ABSL_GUARDED_BY(mutex_);
  // Readers fill them.
  mutable absl::flat_hash_map<const IndexDefinition*, Index> indexes_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  Unreadable unreadable_ ABSL_GUARDED_BY(mutex_);
  // Not OK: there is an object, and nobody can tell which.
  absl::Status unidentified_ ABSL_GUARDED_BY(mutex_);
  std::string resource_version_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate

#endif  // MANAGER_CACHE_STORE_H_
