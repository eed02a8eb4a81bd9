// The tracer of a process: samples, makes ids, and sends spans to an OpenTelemetry collector.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/clock.h"
#include "manager/core/event_loop.h"
#include "manager/core/log.h"
#include "manager/core/metrics.h"
#include "manager/core/mutex.h"
#include "manager/core/trace.h"
#include "manager/tracing/batch_exporter.h"
#include "manager/tracing/curl_poster.h"
#include "manager/tracing/otlp_json.h"
#include "manager/tracing/sampler.h"

namespace mandate {

// Has a thread of its own, "traces", that posts. A collector that is dead or hangs blocks no
// caller. Thread-safe.
class OtlpExporter : public Tracer {
 public:
  struct Options {
    std::string endpoint;                   // of OtlpTracesUrl()
    std::string ca_file = {};               // of an https endpoint; empty: the system's authorities
    int32_t sampling_rate_per_million = 0;  // of RatioSampler
    OtlpResource resource = {};
    uint64_t seed = 0;  // of ids and jitter: random, or two processes make equal ids
    BatchExporter::Limits limits = {};
    // These outlive the exporter.
    const Clock* clock = &Clock::Real();
    Metrics* metrics = nullptr;
    Logger log = {};
  };

  // kInvalidArgument: the endpoint, the CA file or the rate is invalid. Other errors: the CA file
  // cannot be read, or the process has no more descriptors, threads or memory. Does not connect.
  static absl::StatusOr<std::unique_ptr<OtlpExporter>> Create(Options options);
  // Drops what Shutdown() has not sent. No span and no TraceContext of this tracer may be used
  // afterwards.
  ~OtlpExporter() override;

  // Sends the spans that have ended so far; returns when that is done, has failed, or at `deadline`
  // (in Clock::TimeNow()'s time). Later spans are dropped and counted.
  void Shutdown(absl::Time deadline);

  TraceContext NewTrace() override;
  SpanId NewSpanId() override;
  void Export(FinishedSpan span) override { batches_->Add(std::move(span)); }
  const Clock& clock() const override { return clock_; }

 private:
  OtlpExporter(const Options& options, const RatioSampler& sampler)
      : clock_(*options.clock), sampler_(sampler), random_(options.seed) {}
  template <class Id>
  Id NewId() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Clock& clock_;
  const RatioSampler sampler_;
  Mutex mutex_;
  std::mt19937_64 random_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<CurlPoster> poster_;
  std::unique_ptr<BatchExporter> batches_;
};

}  // namespace mandate
