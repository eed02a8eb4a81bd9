// What a component has written and its cache may not have seen yet.
#ifndef MANAGER_CLIENT_OWN_WRITES_H_
#define MANAGER_CLIENT_OWN_WRITES_H_

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

// All that was written to one object. It has been seen when the object is known as of
// `resource_version` (if there is one), and is not the one with the UID `gone` (if there is one).
struct OwnWrite {
  ObjectKey key;
  std::string resource_version;  // the newest that a write was answered with
  std::string gone;              // the UID of what was deleted last
  uint64_t number = 0;           // of the last write

  bool operator==(const OwnWrite&) const = default;
};

// Notes the writes of one component; its cache reads them and forgets those that it has seen.
// Thread-safe. Who asks about a kind of which nothing was written takes no lock.
class OwnWrites {
 public:
  // Of one kind, more than this: the oldest is forgotten, and counted by `forgotten`, which may be
  // null and otherwise outlives this.
  void Limit(size_t most, prometheus::Counter* forgotten);

  // A version that is no decimal number cannot be compared (KEP-5504), and is not noted.
  void Wrote(const KindInfo& kind, const ObjectKey& key, std::string_view resource_version);
  void Deleted(const KindInfo& kind, const ObjectKey& key, std::string_view uid);

  // False: there is certainly nothing to wait for. Lock-free.
  bool MayHave(const KindInfo& kind) const { return slots_[SlotOf(kind)] != 0; }
  // Sorted by key; `ns` empty: in all namespaces; `name` empty: of every name.
  std::vector<OwnWrite> Pending(const KindInfo& kind, std::string_view ns,
                                std::string_view name) const;
  // Those of them that have not been written again meanwhile.
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
  // What was written of the kind; null: nothing ever was.
  Kind* Of(const KindInfo& kind) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The object's entry, as written now.
  OwnWrite& Touch(const KindInfo& kind, ObjectKey key) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  // How many writes there are of the kinds that share a slot.
  std::array<std::atomic<size_t>, kSlots> slots_ = {};
  mutable Mutex mutex_;
  std::map<KindName, Kind> kinds_ ABSL_GUARDED_BY(mutex_);
  uint64_t last_number_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t most_ ABSL_GUARDED_BY(mutex_) = 4096;
  prometheus::Counter* forgotten_ ABSL_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace mandate

#endif  // MANAGER_CLIENT_OWN_WRITES_H_
