// The objects of one watch: one copy each, sorted by key.
#ifndef MANAGER_CACHE_STORE_H_
#define MANAGER_CACHE_STORE_H_

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/btree_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/cache/cache.h"
#include "manager/core/mutex.h"
#include "manager/object/raw_object.h"
#include "manager/object/unreadable.h"

namespace mandate {

using ObjectPtr = std::shared_ptr<const RawObject>;

// A place in a store; what is in it may be replaced by another object of the same key.
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

// What turns `before` into `after`, both sorted by ObjectLess without doubles: in the order of
// keys; nothing for an object that kept its UID and resourceVersion; for another object under the
// same name the delete, then the add.
std::vector<ObjectEvent> DiffObjects(const std::vector<ObjectPtr>& before,
                                     const std::vector<ObjectPtr>& after);

// What is there and cannot be read is neither absent nor as it was: its last readable state stays,
// no delete is made of it, and reads of its key are errors until it can be read again or is gone.
// Thread-safe; locks are held for the copy of pointers only. Who writes does so from one thread, so
// that its events have one order.
class ObjectStore {
 public:
  struct Content {
    std::vector<ObjectPtr> objects;
    std::vector<UnreadableObject> unreadable;
  };

  // To decide by: null is absent, for certain. kDataLoss: there, or perhaps there, and unreadable.
  absl::StatusOr<ObjectPtr> Read(std::string_view ns, std::string_view name) const;
  // The same of all in `ns`, sorted; empty: of all namespaces.
  absl::StatusOr<std::vector<ObjectPtr>> ReadAll(std::string_view ns = "") const;

  // What was last seen. Null: nothing.
  ObjectPtr Get(std::string_view ns, std::string_view name) const;
  // What was last seen, sorted; `ns` empty: all namespaces.
  std::vector<ObjectPtr> List(std::string_view ns = "") const;
  size_t size() const;
  size_t bytes() const;  // of the objects' encoded forms
  size_t unreadable() const;
  // Up to which the objects are known; "" before the first Replace().
  std::string resource_version() const;
  // Whether the content is certainly no older than `resource_version`.
  bool HasReached(std::string_view resource_version) const;

  // Mark and sweep: makes this the content, as of `resource_version`, and returns what changed,
  // the deletes that no watch told included. An object that did not change stays the same copy.
  // `unreadable` are there too; while one of them is not identified, it may be any that is missing,
  // so that nothing is deleted.
  std::vector<ObjectEvent> Replace(std::vector<ObjectPtr> objects, std::string resource_version,
                                   std::vector<UnreadableObject> unreadable = {});
  // A watch's ADDED or MODIFIED. Nothing for what is known already or newer here.
  std::vector<ObjectEvent> Put(ObjectPtr object);
  // A watch's DELETED. Nothing for an object that is not here, or is newer here.
  std::vector<ObjectEvent> Remove(ObjectPtr object);
  // The same of one that cannot be read. Unless it is identified, it may be any that is not here.
  void PutUnreadable(UnreadableObject object);
  std::vector<ObjectEvent> RemoveUnreadable(const UnreadableObject& object);
  void SetResourceVersion(std::string resource_version);
  // What it holds, the objects sorted; it is empty then.
  Content Release();

 private:
  using Objects = absl::btree_set<ObjectSlot, ObjectLess>;
  using Unreadable = std::map<ObjectKey, UnreadableObject>;

  // Where the object is, or belongs.
  Objects::iterator Find(const ObjectPtr& object) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // Forgets that the object of this key cannot be read; false when that is newer than this version.
  bool Settle(std::string_view ns, std::string_view name, std::string_view resource_version)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  mutable Mutex mutex_;
  Objects objects_ ABSL_GUARDED_BY(mutex_);
  size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  Unreadable unreadable_ ABSL_GUARDED_BY(mutex_);
  // Not OK: there is an object, and nobody can tell which.
  absl::Status unidentified_ ABSL_GUARDED_BY(mutex_);
  std::string resource_version_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate

#endif  // MANAGER_CACHE_STORE_H_
