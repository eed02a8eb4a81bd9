#include "manager/tracing/sampler.h"

#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr int32_t kMillion = 1'000'000;

}  // namespace

absl::StatusOr<RatioSampler> RatioSampler::Create(int32_t per_million) {
  if (per_million < 0 || per_million > kMillion) {
    return absl::InvalidArgumentError(StrCat("the sampling rate per million is ", per_million,
                                             "; use 0 (no trace) to 1000000 (every trace)"));
  }
  constexpr uint64_t kAll = uint64_t{1} << 63;
  const auto rate = static_cast<uint64_t>(per_million);
  // Without an overflow, and exact at both ends.
  return RatioSampler(kAll / kMillion * rate + kAll % kMillion * rate / kMillion);
}

bool RatioSampler::Samples(const TraceId& trace) const {
  uint64_t random = 0;  // the last 8 bytes, in network order, as in OpenTelemetry's Go library
  for (size_t i = 8; i < trace.size(); ++i) random = random << 8 | trace[i];
  return random >> 1 < bound_;
}

}  // namespace mandate
