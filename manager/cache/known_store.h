// What the watch of one scope knows: its store, and up to which version.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/store.h"
#include "manager/object/selector.h"

namespace mandate {

// Gets the changes that another watch has made in the store.
class StoreListener {
 public:
  virtual ~StoreListener() = default;
  virtual void OnObjects(const std::vector<ObjectEvent>& events) = 0;
  // More changes than `most_events`; `before` is the former content.
  virtual void OnReplaced(const std::shared_ptr<const ObjectSet>& before) = 0;
};

// A part of a KindStore. Loop thread only, except for the store.
struct KnownStore {
  // `scope.labels` must be a valid selector: a scope with another one covers no object.
  KnownStore(DemandSpec scope, std::shared_ptr<ObjectStore> store, StoreListener* listener,
             size_t most_events);

  bool IsSelected() const { return !scope.labels.empty(); }
  // Whether the namespace and the name are those of the scope.
  bool HasInScope(const RawObject& object) const;
  // The same, and the labels match.
  bool Covers(const RawObject& object) const;
  // Whether an object that this store has lost is not in the scope of `other`, either. With a
  // selector it may have lost its labels only.
  bool DecidesFor(const KnownStore& other) const { return !IsSelected() || other.followed == this; }
  // Whether an object can be in both scopes, whatever its labels are.
  bool Overlaps(const KnownStore& other) const;

  // The version up to which the store is known; "": not filled.
  const std::string& version() const {
    return followed == nullptr ? own_version : followed->version();
  }
  bool filled() const { return !own_version.empty(); }

  // Another watch has delivered this version, without the labels of this scope: until this one's
  // own watch gets there, it must not bring an older version back.
  void NoteLeft(const RawObject& object);
  // Whether this version is older than such a one.
  bool HasLeft(const RawObject& object) const;
  // The watch has reached `version`.
  void MoveTo(std::string version);

  // The same without its objects, for a scope that may no longer be read: it knows in which version
  // each of them was.
  std::shared_ptr<KnownStore> WithoutObjects() const;
  // Whether a store without objects knows that there is this object.
  bool Remembers(const RawObject& object) const { return versions.contains(object.Key()); }
  // Of a store without objects: the changes that others make in their stores.
  void NotePut(const RawObject& object);
  void NoteRemoved(const RawObject& object);

  const DemandSpec scope;
  const LabelSelector selector;
  const std::shared_ptr<ObjectStore> store;
  StoreListener* listener;  // null: the watch was closed
  const size_t most_events;
  std::string own_version = {};
  // Its watch keeps this store, too, which has none of its own. It is filled, and covers this one.
  const KnownStore* followed = nullptr;
  absl::flat_hash_map<ObjectKey, std::string> left = {};  // the versions of NoteLeft()
  bool is_without_objects = false;
  // Of a closed store: how many more times it is kept without a look at the others
  // (KindStore::Sweep).
  size_t sweeps_to_skip = 0;
  absl::flat_hash_map<ObjectKey, std::string> versions = {};  // of a store without objects
};

// Whether both versions can be compared and `a` is at most `b`.
bool IsAtMost(std::string_view a, std::string_view b);

}  // namespace mandate
