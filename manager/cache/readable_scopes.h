// The scopes that one component may read right now, and its indexes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/hash/hash.h"
#include "absl/status/status.h"
#include "manager/cache/cache_view.h"
#include "manager/cache/index.h"
#include "manager/cache/store.h"
#include "manager/core/mutex.h"

namespace mandate {

// The cached data that a component may read in one scope. The component's view reads it; its
// membership in the watch writes it. Thread-safe.
class ReadableScope {
 public:
  struct Reading {
    DemandStatus status;
    std::shared_ptr<const ObjectStore> store;  // only when synced
  };

  // Those that the component has declared for the kind.
  using Indexes = std::vector<std::shared_ptr<const IndexDefinition>>;

  explicit ReadableScope(DemandSpec spec, Indexes indexes = {})
      : spec_(std::move(spec)), indexes_(std::move(indexes)) {}

  const DemandSpec& spec() const { return spec_; }
  const Indexes& indexes() const { return indexes_; }

  // Counts the demands. Without a demand, this data answers no read.
  void Add() {
    MutexLock lock(mutex_);
    ++demands_;
  }
  void Release() {
    MutexLock lock(mutex_);
    --demands_;
  }
  int demands() const {
    MutexLock lock(mutex_);
    return demands_;
  }

  Reading Read() const {
    MutexLock lock(mutex_);
    return {status_, status_.state == DemandState::kSynced ? store_ : nullptr};
  }
  // The last known objects: those of a synced or of a stale watch.
  std::shared_ptr<const ObjectStore> LastKnown() const {
    MutexLock lock(mutex_);
    const bool seen = status_.state == DemandState::kSynced || status_.state == DemandState::kStale;
    return seen ? store_ : nullptr;
  }
  // The later reads use this status and this store.
  void Set(DemandStatus status, std::shared_ptr<const ObjectStore> store) {
    MutexLock lock(mutex_);
    status_ = std::move(status);
    store_ = std::move(store);
  }

 private:
  const DemandSpec spec_;
  const Indexes indexes_;
  mutable Mutex mutex_;
  int demands_ ABSL_GUARDED_BY(mutex_) = 0;
  DemandStatus status_ ABSL_GUARDED_BY(mutex_) = {
      DemandState::kPending, absl::UnavailableError("no request was sent yet")};
  std::shared_ptr<const ObjectStore> store_ ABSL_GUARDED_BY(mutex_);
};

// The order of demands: the scopes of one kind are neighbours, the widest first.
// The order of demands. The constants of one kind may differ in what it ignores, such as the
// encoding.
struct DemandLess {
  static auto Of(const DemandSpec& s) {
    return std::tuple(s.kind.group, s.kind.version, s.kind.plural, s.kind.metadata_only,
                      reinterpret_cast<uintptr_t>(s.kind.trim), std::string_view(s.ns),
                      std::string_view(s.name), std::string_view(s.labels));
  }
  bool operator()(const DemandSpec& a, const DemandSpec& b) const { return Of(a) < Of(b); }
  // Whether their kinds have the same watches and the same store.
  static bool IsSameKind(const DemandSpec& a, const DemandSpec& b) {
    const DemandSpec all_of_a = {a.kind, "", ""}, all_of_b = {b.kind, "", ""};
    return Of(all_of_a) == Of(all_of_b);
  }
};

// The readable scopes of one component. A ReadableScope lives as long as a demand or a membership
// holds it; the entries of the others are removed now and then. Thread-safe.
class ReadableScopes {
 public:
  // kFailedPrecondition: the kind has a readable scope already. kAlreadyExists: the index exists.
  absl::Status AddIndex(IndexDefinition definition);
  // Null if the component has not declared it.
  std::shared_ptr<const IndexDefinition> FindIndex(const KindInfo& kind,
                                                   std::string_view field) const;

  // The ReadableScope of `spec`, with one more demand.
  std::shared_ptr<ReadableScope> Acquire(const DemandSpec& spec);
  // The ReadableScopes with demands that have all objects of `asked`, which has no labels: of the
  // same kind, then of whole objects if `asked` is metadata only; the widest first. Costs the same
  // for any number of scopes: each read calls it.
  std::vector<std::shared_ptr<ReadableScope>> FindCovering(const DemandSpec& asked) const;
  // Those of objects in `ns` (empty: in all namespaces) with a selector that the server applies.
  std::vector<std::shared_ptr<ReadableScope>> FindSelected(const KindInfo& kind,
                                                           std::string_view ns) const;
  // Includes the entries that nobody holds.
  size_t size() const;

 private:
  using Key = decltype(DemandLess::Of(std::declval<const DemandSpec&>()));
  struct Hash {
    using is_transparent = void;
    size_t operator()(const Key& key) const { return absl::Hash<Key>()(key); }
    size_t operator()(const DemandSpec& spec) const { return (*this)(DemandLess::Of(spec)); }
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(const DemandSpec& a, const Key& b) const { return DemandLess::Of(a) == b; }
    bool operator()(const DemandSpec& a, const DemandSpec& b) const { return a == b; }
  };
  using Entry = std::weak_ptr<ReadableScope>;

  mutable Mutex mutex_;
  // Those without a selector.
  absl::flat_hash_map<DemandSpec, Entry, Hash, Equal> scopes_ ABSL_GUARDED_BY(mutex_);
  std::map<DemandSpec, Entry, DemandLess> selected_ ABSL_GUARDED_BY(mutex_);
  // By the kind's widest scope.
  std::map<DemandSpec, ReadableScope::Indexes, DemandLess> indexes_ ABSL_GUARDED_BY(mutex_);
  size_t sweep_at_ ABSL_GUARDED_BY(mutex_) = 64;
};

}  // namespace mandate
