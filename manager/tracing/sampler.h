// Decides which traces are recorded.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "manager/core/trace.h"

namespace mandate {

// Samples a part of the traces by their ids, as OpenTelemetry's TraceIdRatioBased sampler: every
// process with the same rate decides the same about a trace. It is for the roots; children follow
// their parents (Span::Child), which makes it "parent-based". A value, immutable.
class RatioSampler {
 public:
  // `per_million` is samplingRatePerMillion of Kubernetes' TracingConfiguration: 0 samples nothing,
  // 1,000,000 everything. kInvalidArgument: it is out of this range.
  static absl::StatusOr<RatioSampler> Create(int32_t per_million);

  bool Samples(const TraceId& trace) const;

 private:
  explicit RatioSampler(uint64_t bound) : bound_(bound) {}
  uint64_t bound_;  // ids below it are sampled; of 2^63
};

}  // namespace mandate
