// Sends spans to a collector, in batches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/backoff.h"
#include "manager/core/executor.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/core/mutex.h"
#include "manager/core/rate_limited_error_log.h"
#include "manager/core/trace.h"
#include "manager/core/weak_self.h"
#include "manager/tracing/otlp_json.h"
#include "manager/tracing/otlp_poster.h"
#include "manager/tracing/span_queue.h"
#include "manager/tracing/trace_metrics.h"

namespace mandate {

// A bounded queue and the batches from it: one at a time, retried as OTLP says. Add() and
// Shutdown() are thread-safe; the rest runs on the loop. Destroy it on the loop's thread, or after
// the loop has stopped.
class BatchExporter {
 public:
  // The defaults are those of OpenTelemetry's batch processor.
  struct Limits {
    size_t queue = 2048;                                // spans of each component
    size_t batch = 512;                                 // spans of all components
    absl::Duration delay = absl::Seconds(5);            // from a span to its batch, at most
    absl::Duration export_timeout = absl::Seconds(30);  // of a batch, with its retries
    Backoff::Options backoff = {.initial = absl::Seconds(1), .max = absl::Seconds(10)};
  };

  struct Options {
    // All outlive this.
    Loop* loop = nullptr;
    OtlpPoster* poster = nullptr;
    Metrics* metrics = nullptr;
    Limits limits = {};
    OtlpResource resource = {};
    uint64_t seed = 0;  // of jitter
    Logger log = {};
  };

  explicit BatchExporter(Options options);

  // Takes a span for the next batch. If the queue of its component is full, or after Shutdown(),
  // the span is dropped and counted. Never blocks.
  void Add(FinishedSpan span);

  // Sends what is there, without retries, and returns when that is done, has failed or at
  // `deadline` (in Clock::TimeNow()'s time). Spans that were not accepted by then are dropped and
  // counted. Not from the loop's thread.
  void Shutdown(absl::Time deadline);

 private:
  // On the loop.
  void Close(absl::Time deadline);
  void Schedule();  // when no batch is under way
  void StartBatch();
  void Post();
  void OnAnswer(absl::StatusOr<OtlpAnswer> answer);
  void OnAccepted(const OtlpAnswer& answer);
  void Retry(std::string_view why, std::optional<absl::Duration> retry_after);
  void DropBatch(SpanDrop reason);
  void DropAll();

  const Options options_;
  Loop& loop_;
  TraceMetrics metrics_;
  RateLimitedErrorLog errors_;
  RateLimitedErrorLog partial_;

  Mutex mutex_;
  SpanQueue queue_ ABSL_GUARDED_BY(mutex_);
  bool shut_ ABSL_GUARDED_BY(mutex_) = false;
  bool notified_ ABSL_GUARDED_BY(mutex_) = false;  // Schedule() is posted

  // Loop thread only.
  std::mt19937_64 random_;
  Backoff backoff_;
  std::vector<FinishedSpan> batch_;  // under way; empty: none
  std::string body_;                 // of the batch
  absl::Time batch_deadline_;
  absl::Time posted_at_;
  absl::Time queue_due_ = absl::InfiniteFuture();  // when what is queued must be sent
  absl::Time not_before_ = absl::InfinitePast();   // the collector asked for a pause
  absl::Time close_at_ = absl::InfiniteFuture();   // the deadline of Shutdown()
  bool closing_ = false;
  std::unique_ptr<Loop::Timer> timer_;  // of the next batch or retry
  std::unique_ptr<Loop::Timer> close_timer_;
  Latch closed_;
  WeakSelf weak_;
};

}  // namespace mandate
