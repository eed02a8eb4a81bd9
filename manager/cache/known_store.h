// What the watch of one scope knows: its store, and up to which version.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/closed_scopes.h"
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
             size_t most_events, ClosedScopes closed);

  bool IsSelected() const { return !scope.labels.empty(); }
  // Whether the namespace and the name are those of the scope.
  bool HasInScope(const RawObject& object) const;
  // The same, and the labels match.
  bool Covers(const RawObject& object) const;
  // Whether what this store knows holds for `other`, too.
  bool KnowsWith(const KnownStore& other) const {
    return this != &other && filled() && history == other.history;
  }
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
  // own watch gets there, it must not bring an older version back, even if the object is deleted.
  void NoteLeft(const RawObject& object);
  // The watch of `other` is about to be closed. Notes what it knew and this watch has not reached.
  void NoteClosed(const KnownStore& other);
  // Whether the object had this version before it was deleted, or before it left the scope.
  bool HasLeft(const RawObject& object) const;
  // Whether the store may have objects that are newer than its version, although no other watch
  // is open.
  bool IsAhead() const { return closed_version > 0; }
  // The watch has reached `version`.
  void MoveTo(std::string version);
  // Removes the notes about this version and earlier ones.
  void ForgetUpTo(uint64_t version);
  // Ends `followed`: its own watch can begin at its version.
  void Unfollow();

  const DemandSpec scope;
  const LabelSelector selector;
  const std::shared_ptr<ObjectStore> store;
  StoreListener* const listener;
  const size_t most_events;
  std::string own_version = {};
  // Its watch keeps this store, too, which has none of its own. It is filled, and covers this one.
  const KnownStore* followed = nullptr;
  absl::flat_hash_map<ObjectKey, std::string> left = {};  // the versions of NoteLeft()
  ClosedScopes closed;
  uint64_t closed_version = 0;  // the latest one of a closed watch; 0: this watch has reached it
  // In which of the server's histories the store is known (KindStore).
  int history = 0;
  // When the watch began to read the whole state: the kind's history, and a version that the answer
  // reaches, if the server still has that history.
  int asked_in = 0;
  uint64_t asked_for = 0;

 private:
  // A watch of this namespace and name (empty: all) was closed at this version.
  void NoteClosedAt(std::string_view ns, std::string_view name, uint64_t version);
};

// Whether both versions can be compared and `a` is at most `b`.
bool IsAtMost(std::string_view a, std::string_view b);

}  // namespace mandate
