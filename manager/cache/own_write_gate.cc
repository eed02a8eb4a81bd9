#include "manager/cache/own_write_gate.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <utility>

#include "manager/cache/cache_view.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using StorePtr = std::shared_ptr<const ObjectStore>;

bool HasSeen(const ObjectStore& store, const std::vector<OwnWrite>& writes) {
  return std::all_of(writes.begin(), writes.end(),
                     [&](const OwnWrite& write) { return HasSeen(store, write); });
}

// "the component's own write of widgets foo/x at resource version 7 (and 2 more)".
std::string Describe(const KindInfo& kind, const std::vector<OwnWrite>& writes) {
  const OwnWrite& first = writes.front();
  std::string text =
      StrCat("the component's own ", first.gone.empty() ? "write of " : "deletion of ",
             DemandSpec{kind, first.key.ns, first.key.name}.ToString());
  if (!first.resource_version.empty()) {
    StrAppend(&text, " at resource version ", first.resource_version);
  }
  if (writes.size() > 1) StrAppend(&text, " (and ", writes.size() - 1, " more)");
  return text;
}

prometheus::Counter& Outcome(const OwnWriteGate::Options& options, const char* outcome) {
  return options.metrics.Counter(
      "mandate_cache_own_write_waits_total",
      "Reads that waited for the component's own writes, by outcome",
      {{"identity", std::string(options.component)}, {"outcome", outcome}});
}

}  // namespace

bool HasSeen(const ObjectStore& store, const OwnWrite& write) {
  const ObjectPtr object = store.Get(write.key.ns, write.key.name);
  if (!write.resource_version.empty() && !store.HasReached(write.resource_version)) {
    // Events come before the bookmark that advances the whole store.
    if (object == nullptr || !ParseResourceVersion(object->resource_version()) ||
        IsOlder(object->resource_version(), write.resource_version)) {
      return false;
    }
  }
  return write.gone.empty() || object == nullptr || object->uid() != write.gone;
}

OwnWriteGate::OwnWriteGate(const Options& options)
    : writes_(options.writes),
      waits_(options.waits),
      clock_(options.loop.clock()),
      max_wait_(options.max_wait),
      seen_(Outcome(options, "seen")),
      unreadable_(Outcome(options, "unreadable")),
      timed_out_(Outcome(options, "timeout")),
      seconds_(options.metrics.Histogram("mandate_cache_own_write_wait_seconds",
                                         "How long reads waited for the component's own writes",
                                         {{"identity", std::string(options.component)}},
                                         {0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30})) {}

absl::StatusOr<StorePtr> OwnWriteGate::Pass(const CallContext& context, const KindInfo& kind,
                                            std::string_view ns, std::string_view name,
                                            const Choose& choose, const Only& only) const {
  absl::StatusOr<StorePtr> store = choose();
  if (!store.ok() || !writes_.MayHave(kind)) return store;
  std::vector<OwnWrite> writes = writes_.Pending(kind, ns, name);
  if (writes.empty()) return store;
  const CallContext bounded = context.WithDeadline(clock_.TimeNow() + max_wait_);
  // After the wait another store may answer.
  while (!HasSeen(**store, writes)) {
    RETURN_IF_ERROR(Wait(bounded, kind, writes, choose));
    store = choose();
    if (!store.ok()) return store;
  }
  std::erase_if(writes, [&](const OwnWrite& write) { return !only(write.key); });
  writes_.Forget(kind, writes);
  return store;
}

absl::Status OwnWriteGate::Wait(const CallContext& context, const KindInfo& kind,
                                const std::vector<OwnWrite>& writes, const Choose& choose) const {
  const absl::Time before = clock_.TimeNow();
  // The last check writes it, and it is read after the wait.
  auto readable = std::make_shared<std::atomic<bool>>(true);
  absl::Status waited = waits_->Wait(context, kind, Describe(kind, writes),
                                     [writes, choose, readable]() -> std::optional<absl::Status> {
                                       const absl::StatusOr<StorePtr> store = choose();
                                       *readable = store.ok();
                                       if (store.ok() && !HasSeen(**store, writes))
                                         return std::nullopt;
                                       return absl::OkStatus();
                                     });
  if (before >= context.deadline) return waited;  // a caller without time is not counted
  if (!waited.ok()) {
    timed_out_.Increment();
  } else {
    (*readable ? seen_ : unreadable_).Increment();
  }
  seconds_.Observe(absl::ToDoubleSeconds(clock_.TimeNow() - before));
  return waited;
}

}  // namespace mandate
