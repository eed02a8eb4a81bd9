// Lets a read through once the cache has seen what the component itself has written.
#ifndef MANAGER_CACHE_OWN_WRITE_GATE_H_
#define MANAGER_CACHE_OWN_WRITE_GATE_H_

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

// Whether `store` shows `write`: KEP-5504's numbers for what was written; for a deletion that the
// object is gone, or another.
bool Shows(const ObjectStore& store, const OwnWrite& write);

// Thread-safe. A read of a kind that the component has not written takes no lock here and waits for
// nothing; another one waits for the writes that it could see: of its key, or in its namespace.
class OwnWriteGate {
 public:
  // The store that answers a read, or why none does.
  using Choose = std::function<absl::StatusOr<std::shared_ptr<const ObjectStore>>()>;
  using Only = std::function<bool(const ObjectKey&)>;

  struct Options {
    OwnWrites& writes;  // outlives this
    std::shared_ptr<WaitSet> waits;
    Loop& loop;  // outlives this
    absl::Duration most;
    Metrics& metrics;
    std::string_view component;
  };

  explicit OwnWriteGate(const Options& options);

  // The store, once it shows every own write in this scope. kDeadlineExceeded: it did not within
  // `context` and Options::most; with a deadline that has passed it says so at once. An error of
  // `choose` is the answer whenever it comes: what cannot be read is not waited for. `only`: that
  // no other store, which may be behind this one, can answer for the object; such writes are
  // forgotten.
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
  const absl::Duration most_;
  // mandate_cache_own_write_waits_total{identity,outcome=seen|unreadable|gave_up}
  prometheus::Counter& seen_;
  prometheus::Counter& unreadable_;
  prometheus::Counter& gave_up_;
  // mandate_cache_own_write_wait_seconds{identity}
  prometheus::Histogram& seconds_;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_OWN_WRITE_GATE_H_
