// Holds a read until the cache has seen the writes of the component itself.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/cache/store.h"
#include "manager/cache/wait_set.h"
#include "manager/client/own_writes.h"
#include "manager/core/call_context.h"
#include "manager/core/metrics.h"
#include "manager/object/kind.h"

namespace mandate {

// Whether `store` has seen `write`: it has reached the written resource version (compared as
// numbers, KEP-5504); for a deletion, the object is gone or has another UID.
bool HasSeen(const ObjectStore& store, const OwnWrite& write);

// A gate for reads. A read of a kind that the component has not written takes no lock and does not
// wait. Another read waits for the writes in its scope: of its key, or in its namespace.
// Thread-safe.
class OwnWriteGate {
 public:
  // The store that answers a read, or the error of the read.
  using Choose = std::function<absl::StatusOr<std::shared_ptr<const ObjectStore>>()>;
  using Only = std::function<bool(const ObjectKey&)>;

  struct Options {
    OwnWrites& writes;  // outlives this
    std::shared_ptr<WaitSet> waits;
    Loop& loop;  // outlives this
    absl::Duration max_wait;
    Metrics& metrics;
    std::string_view component;
  };

  explicit OwnWriteGate(const Options& options);

  // False: Pass() would return the result of `choose` at once.
  bool MayHold(const KindInfo& kind) const { return writes_.MayHave(kind); }

  // The store, once it has seen every own write in this scope. kDeadlineExceeded: it did not within
  // `context` and Options::max_wait; if the deadline has passed, the error comes at once. An error
  // of `choose` is returned as soon as it comes: the gate does not wait for data that cannot be
  // read. `only(key)` is true if this store alone can answer for the object. Its write is then
  // forgotten when the store has seen it. Otherwise the write is kept, because another store may
  // still be older.
  absl::StatusOr<std::shared_ptr<const ObjectStore>> Pass(const CallContext& context,
                                                          const KindInfo& kind, std::string_view ns,
                                                          std::string_view name,
                                                          const Choose& choose,
                                                          const Only& only) const;

 private:
  absl::Status Wait(const CallContext& context, const KindInfo& kind,
                    const std::vector<OwnWrite>& writes, const Choose& choose) const;

  OwnWrites& writes_;
  const std::shared_ptr<WaitSet> waits_;
  const Clock& clock_;
  const absl::Duration max_wait_;
  // mandate_cache_own_write_waits_total{identity,outcome=seen|unreadable|timeout}
  prometheus::Counter& seen_;
  prometheus::Counter& unreadable_;
  prometheus::Counter& timed_out_;
  // mandate_cache_own_write_wait_seconds{identity}
  prometheus::Histogram& seconds_;
};

}  // namespace mandate
