// A tracer that keeps the spans, so that a test can check them.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "manager/core/clock.h"
#include "manager/core/mutex.h"
#include "manager/core/trace.h"

namespace mandate {

// Its ids count from 1, in the last two bytes: of traces, and of all spans together. Thread-safe,
// as far as the clock is.
class RecordingTracer : public Tracer {
 public:
  // The clock outlives it.
  explicit RecordingTracer(const Clock& clock, bool sampled = true)
      : clock_(clock), sampled_(sampled) {}

  TraceContext NewTrace() override {
    MutexLock lock(mutex_);
    TraceContext context{.sampled = sampled_, .tracer = this};
    Number(++traces_, context.trace_id);
    Number(++spans_, context.span_id);
    return context;
  }
  SpanId NewSpanId() override {
    MutexLock lock(mutex_);
    SpanId id = {};
    Number(++spans_, id);
    return id;
  }
  void Export(FinishedSpan span) override {
    MutexLock lock(mutex_);
    finished_.push_back(std::move(span));
  }
  const Clock& clock() const override { return clock_; }

  // The spans so far, in the order in which they ended.
  std::vector<FinishedSpan> finished() const {
    MutexLock lock(mutex_);
    return finished_;
  }

 private:
  static void Number(uint16_t number, auto& id) {
    id[id.size() - 2] = static_cast<uint8_t>(number >> 8);
    id[id.size() - 1] = static_cast<uint8_t>(number);
  }

  const Clock& clock_;
  const bool sampled_;
  mutable Mutex mutex_;
  uint16_t traces_ ABSL_GUARDED_BY(mutex_) = 0;
  uint16_t spans_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<FinishedSpan> finished_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate
