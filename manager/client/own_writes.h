// The writes of a component that its cache may not have seen yet.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "manager/core/metrics.h"
#include "manager/core/mutex.h"
#include "manager/object/kind.h"

namespace mandate {

// All writes to one object. They have been seen when the cache is as new as `resource_version` (if
// set), and does not have the object with the UID `gone` (if set).
struct OwnWrite {
  ObjectKey key;
  std::string resource_version;  // the newest in an answer to a write
  std::string gone;              // the UID of the object that was deleted last
  uint64_t number = 0;           // of the last write

  bool operator==(const OwnWrite&) const = default;
};

// Notes the writes of one component. Its cache reads them and removes those that it has seen.
// Thread-safe. A question about a kind without writes takes no lock.
class OwnWrites {
 public:
  // Keeps at most `most` writes of each kind. A further one replaces the oldest one, and
  // `forgotten` counts it. `forgotten` may be null; otherwise it outlives this.
  void Limit(size_t most, prometheus::Counter* forgotten);

  // A version that is not a decimal number cannot be compared (KEP-5504), and is not noted.
  void Wrote(const KindInfo& kind, const ObjectKey& key, std::string_view resource_version);
  void Deleted(const KindInfo& kind, const ObjectKey& key, std::string_view uid);

  // False: there is certainly nothing to wait for. Lock-free.
  bool MayHave(const KindInfo& kind) const { return slots_[SlotOf(kind)] != 0; }
  // Sorted by key. Empty `ns`: all namespaces; empty `name`: all names.
  std::vector<OwnWrite> Pending(const KindInfo& kind, std::string_view ns,
                                std::string_view name) const;
  // Removes the writes in `seen`, except those of objects that were written again in the meantime.
  void Forget(const KindInfo& kind, const std::vector<OwnWrite>& seen);

 private:
  using KindName = std::pair<std::string, std::string>;  // group, plural: versions share objects
  struct Kind {
    std::map<ObjectKey, OwnWrite> by_key;
    std::map<uint64_t, ObjectKey> by_number;  // the oldest first
  };

  static constexpr size_t kSlots = 256;
  static size_t SlotOf(const KindInfo& kind);
  static KindName NameOf(const KindInfo& kind) {
    return {std::string(kind.group), std::string(kind.plural)};
  }
  // The writes of the kind; null: there were none.
  Kind* Of(const KindInfo& kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Returns the entry of the object, with the number of this write.
  OwnWrite& Touch(const KindInfo& kind, ObjectKey key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // The number of writes of the kinds that share a slot.
  std::array<std::atomic<size_t>, kSlots> slots_ = {};
  mutable Mutex mutex_;
  std::map<KindName, Kind> kinds_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t most_ ABSL_GUARDED_BY(mutex_) = 4096;
  prometheus::Counter* forgotten_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace mandate
