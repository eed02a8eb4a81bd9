// The objects of one kind in one cluster, as all watches of the kind know them.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/known_store.h"
#include "manager/cache/selected_stores.h"
#include "manager/cache/store.h"
#include "manager/core/metrics.h"
#include "manager/object/object_packer.h"

namespace mandate {

// The stores of one kind: one for each scope that is watched. An object that several scopes cover
// is held once, and has the same version in each of their stores: a change that one watch delivers
// is made in all of them, in one step. So a reader never sees an object go back to an older
// version, whichever scope answers, and a watch that lags behind another one brings no old version
// back.
//
// A store covers an object if the watch of its scope would deliver it, and the store has been
// filled. Let r be the version up to which a store knows its objects. Then an object that the store
// covers and does not have was deleted, if the object's version is r or less.
//
// A scope with a label selector differs: an object that is missing there may have lost its labels
// instead. So a deletion by such a watch concerns its own store only. An object that another watch
// delivers without the labels leaves the store.
//
// A watch may keep the stores of narrower scopes, too, which then need no watch of their own
// (Stream::Follow). When a store is closed, the watches that are behind it note up to which version
// it knew its objects (closed_scopes.h); the objects themselves leave the memory.
//
// Versions that cannot be compared (aggregated APIs may use such) are never passed on: then each
// store has what its own watch delivers.
//
// A server that is restored from a backup goes back to an earlier version, and writes another
// history from there. It is noticed when a consistent read of the state (Stream::BeginRead) is
// older than what was known before the request. Then that state replaces the content, and stores of
// different histories exchange nothing. A list is always right about its own version and all
// earlier ones.
//
// Loop thread only, except for the stores that readers hold.
class KindStore {
 public:
  using Listener = StoreListener;
  class Stream;

  // Changes an object before it is stored, but not its identity. Null: none.
  using Transform = std::function<ObjectPtr(const KindInfo&, ObjectPtr)>;

  struct Options {
    // Secrets are not compressed: a dictionary has parts of objects that may be gone.
    ObjectPacker::Options packing = {};
    // Objects are compressed with parts of others that must leave the memory: Repack() must be
    // called, later. Null: nobody does.
    std::function<void()> on_stale = nullptr;
    prometheus::Counter* repacked = nullptr;  // objects; outlives this, null: nobody counts
    Transform transform = nullptr;
    // Of each watch (closed_scopes.h); `forgotten` counts those beyond it. Null: nobody counts.
    size_t max_closed_scopes = 256;
    prometheus::Counter* forgotten = nullptr;  // outlives this
  };

  explicit KindStore(const KindInfo& kind) : KindStore(kind, Options()) {}
  KindStore(const KindInfo& kind, Options options);
  KindStore(const KindStore&) = delete;
  KindStore& operator=(const KindStore&) = delete;

  // Opens an empty store for the watch of a scope that has none. `listener` outlives the stream,
  // and this does, too.
  std::unique_ptr<Stream> Open(const DemandSpec& scope, Listener& listener, size_t most_events);

  // Looks at up to `most` objects. An object that is compressed with parts of others that are gone
  // is compressed anew. No listener is told, because no object changes. Returns whether it must be
  // called again.
  bool Repack(size_t most);

 private:
  using Known = KnownStore;
  using Content = ReflectorTarget::Content;
  using Events = std::vector<ObjectEvent>;
  using Changes = std::vector<std::pair<Known*, Events>>;

  // Calls `found` for each store with a watch, and without a selector, whose scope has this place.
  void ForEachWatchedAt(std::string_view ns, std::string_view name,
                        absl::FunctionRef<void(Known&)> found) const;
  // Calls `other` for each filled store that the object concerns, except `self`. `covers`: its
  // scope has the object; otherwise the store has a version with other labels.
  void ForEachConcerned(const Known& self, const RawObject& object,
                        absl::FunctionRef<void(Known&, bool covers)> other) const;
  // Calls `other` for each filled store whose scope overlaps that of `self`, except `self`.
  void ForEachOverlapping(const Known& self, absl::FunctionRef<void(Known&)> other) const;
  // The store has these changes. Its watch is not the one that made them.
  void Tell(Known& known, const Events& events);
  // Notes which objects a store with a selector has.
  void Note(Known& known, const Events& events);
  // Whether nothing is known of its objects but what its watch has delivered.
  bool IsAlone(const Known& self) const {
    return watched_.size() == 1 && selected_.empty() && !self.IsAhead();
  }
  // The watch of this scope has no objects any more: the packer forgets those that no other has.
  void Forget(const DemandSpec& scope);
  // Whether a filled store with a watch has this place in its scope, or, with a selector, an object
  // there.
  bool IsWatched(const ObjectKey& place) const;
  // Begins Repack() again if there may be stale objects.
  void CheckStale();
  // All stores of now hold `copy`, which is the same version of the same object.
  void Swap(const ObjectPtr& held, const ObjectPtr& copy);
  struct Listed {
    Content& content;
    const std::string& version;
    bool is_first;  // of this history: the store's former content is ignored
  };
  // Changes the content, a list of `self`, to what is known since. Returns the changes that it
  // makes in other stores.
  std::map<Known*, Events> Merge(Known& self, const Listed& listed) const;
  // The same for the objects of the list, and for those that only other stores have.
  void MergeListed(Known& self, const Listed& listed, std::map<Known*, Events>& changes) const;
  void MergeOthers(const Known& self, const Listed& listed,
                   std::map<Known*, Events>& changes) const;
  // The stores that follow `self` come into its history: they have exactly its content.
  void MergeFollowers(const Known& self, const Content& content,
                      std::map<Known*, Events>& changes) const;
  // A list of `known` has arrived, which is of the present history. Returns whether it is the first
  // of a new one.
  bool EnterHistory(Known& known, const std::string& version);
  // The watch has moved to its version.
  void NoteReached(const Known& known);
  std::shared_ptr<Known> Add(DemandSpec scope, Listener& listener, size_t most_events);
  // Ends the use of a store by its watch. The watches that are behind it note what it knew.
  void Close(Known& known);

  // An object whose identity the transform would change stays as it is.
  ObjectPtr Transformed(ObjectPtr object) const;
  // The same of the kind's own trim, which may change the name (object/trimmed.h).
  ObjectPtr Trimmed(ObjectPtr object) const;

  const KindInfo kind_;
  const Transform transform_;
  ObjectPacker packer_;
  const std::shared_ptr<Mutex> mutex_;  // of all stores
  using Scope = std::pair<std::string_view, std::string_view>;
  std::map<Scope, Known*> watched_;  // without a selector; the keys are parts of the stores' scopes
  SelectedStores selected_;
  const ClosedScopes none_closed_;
  int history_ = 0;
  uint64_t latest_ = 0;  // the newest version that a watch has reached in this history

  // Repack().
  const std::function<void()> on_stale_;
  prometheus::Counter* const repacked_;
  bool is_stale_ = false;  // on_stale_ was called, and Repack() has not been done yet
  bool starts_over_ = false;
  std::vector<std::weak_ptr<const ObjectStore>> unchecked_;
  ObjectPtr checked_;  // the last one of the last store; null: none yet
};

// The store of one watch. Its reflector writes here. Loop thread only.
class KindStore::Stream : public ReflectorTarget {
 public:
  // Closes the store. Its objects leave the memory, except for those that other stores cover.
  ~Stream() override;

  // For readers. It outlives the stream if they hold it.
  const std::shared_ptr<ObjectStore>& store() const { return known_->store; }

  // Replaces the store by an empty one, as if the stream had been closed and opened again.
  void Purge();
  // The same for the objects of a list that was not completed. Of them only the packer has parts.
  void ForgetListed() { kind_.Forget(known_->scope); }

  // Whether the watch of `wider`, which covers this scope, can keep this store: it has been filled,
  // follows no other, and is no older than this one, or of a newer history.
  bool CanFollow(const Stream& wider) const;
  // From now on it does, and this stream's own watch must be closed. `wider` is neither purged nor
  // closed before Unfollow(). Returns the changes that this makes, as Replace() does.
  Replaced Follow(const Stream& wider);
  // The store stays as it is: its own watch can begin at its version.
  void Unfollow() { known_->Unfollow(); }

  ObjectPtr Pack(ObjectPtr object) override;
  ObjectPtr Trimmed(ObjectPtr object) const override { return kind_.Trimmed(std::move(object)); }
  void BeginRead(bool consistent) override;
  Replaced Replace(Content content, std::string resource_version, size_t most_events) override;
  std::vector<ObjectEvent> Put(ObjectPtr object) override;
  std::vector<ObjectEvent> Remove(ObjectPtr object) override;
  void SetResourceVersion(std::string resource_version) override;
  size_t size() const override { return store()->size(); }
  ObjectBytes bytes() const override { return store()->bytes(); }

 private:
  friend class KindStore;

  Stream(KindStore& kind, std::shared_ptr<Known> known) : kind_(kind), known_(std::move(known)) {}

  KindStore& kind_;
  std::shared_ptr<Known> known_;
};

}  // namespace mandate
