#include "manager/tracing/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <random>

namespace mandate {
namespace {

using testing::HasSubstr;

TraceId WithLast(uint64_t last) {
  TraceId id = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
  for (int i = 15; i >= 8; --i, last >>= 8) id[static_cast<size_t>(i)] = last & 0xff;
  return id;
}

TEST(RatioSamplerTest, DecidesByTheLastEightBytes) {
  constexpr uint64_t kHalf = uint64_t{1} << 63;
  constexpr uint64_t kMost = std::numeric_limits<uint64_t>::max();
  const struct {
    int32_t per_million;
    uint64_t last;
    bool sampled;
  } rows[] = {
      {0, 0, false},
      {0, kMost, false},
      {1'000'000, 0, true},
      {1'000'000, kMost, true},
      {500'000, kHalf - 1, true},
      {500'000, kHalf, false},
      {250'000, kHalf / 2 - 1, true},
      {250'000, kHalf / 2, false},
      {1, 0, true},
      {1, kMost / 1'000'000 - 2, true},
      {1, kMost / 1'000'000 + 2, false},
      {999'999, kMost, false},
  };
  for (const auto& row : rows) {
    EXPECT_EQ(RatioSampler::Create(row.per_million)->Samples(WithLast(row.last)), row.sampled)
        << row.per_million << " " << row.last;
  }
}

TEST(RatioSamplerTest, SamplesThisPartOfRandomIds) {
  std::mt19937_64 random(1);
  const RatioSampler sampler = *RatioSampler::Create(100'000);
  int sampled = 0;
  for (int i = 0; i < 10'000; ++i) sampled += sampler.Samples(WithLast(random()));
  EXPECT_NEAR(sampled, 1000, 100);
}

TEST(RatioSamplerTest, RejectsOtherRates) {
  for (const int32_t rate : {-1, 1'000'001, std::numeric_limits<int32_t>::min()}) {
    const auto sampler = RatioSampler::Create(rate);
    EXPECT_EQ(sampler.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(sampler.status().message()), HasSubstr("0 (no trace) to 1000000"));
  }
}

}  // namespace
}  // namespace mandate
