// The options of a cache.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "manager/cache/cache.h"
#include "manager/cache/testing/cache_fixture.h"

namespace mandate {
namespace {

using CacheOptionsTest = CacheFixture;

TEST_F(CacheOptionsTest, AreChecked) {
  const std::pair<const char*, void (*)(Cache::Options&)> bad[] = {
      {"proof_lifetime", [](Cache::Options& o) { o.proof_lifetime = absl::ZeroDuration(); }},
      {"max_sponsor_failures", [](Cache::Options& o) { o.max_sponsor_failures = 0; }},
      {"max_watch_bytes", [](Cache::Options& o) { o.max_watch_bytes = 0; }},
      {"max_watches", [](Cache::Options& o) { o.max_watches = 0; }},
      {"max_list_bytes", [](Cache::Options& o) { o.max_list_bytes = 0; }},
      {"max_events_per_loop_turn", [](Cache::Options& o) { o.max_events_per_loop_turn = 0; }},
      {"max_watches_per_loop_turn", [](Cache::Options& o) { o.max_watches_per_loop_turn = 0; }},
      {"max_repacked_per_loop_turn", [](Cache::Options& o) { o.max_repacked_per_loop_turn = 0; }},
      {"access.review_timeout",
       [](Cache::Options& o) { o.access.review_timeout = absl::ZeroDuration(); }},
      {"reflector.min_watch_timeout",
       [](Cache::Options& o) { o.reflector.min_watch_timeout = absl::Milliseconds(1); }},
      {"probes.hints.burst", [](Cache::Options& o) { o.probes.hints.burst = 0; }},
      {"probes.rechecks.per_second", [](Cache::Options& o) { o.probes.rechecks.per_second = 0; }},
      {"probes.max_under_way", [](Cache::Options& o) { o.probes.max_under_way = 0; }},
      {"probes.min_under_way", [](Cache::Options& o) { o.probes.min_under_way = 0; }},
      {"probes.slow_after", [](Cache::Options& o) { o.probes.slow_after = absl::ZeroDuration(); }},
      {"probes.hung_after", [](Cache::Options& o) { o.probes.hung_after = absl::ZeroDuration(); }},
      {"closes.per_second", [](Cache::Options& o) { o.closes.per_second = 0; }},
      {"closes.burst", [](Cache::Options& o) { o.closes.burst = 0; }},
      {"closes.max_waiting", [](Cache::Options& o) { o.closes.max_waiting = 0; }},
      {"reflector.page_size", [](Cache::Options& o) { o.reflector.page_size = 0; }},
      {"reflector.max_pages", [](Cache::Options& o) { o.reflector.max_pages = 0; }},
      {"reflector.max_bytes", [](Cache::Options& o) { o.reflector.max_bytes = 0; }},
      {"reflector.max_frame_bytes", [](Cache::Options& o) { o.reflector.max_frame_bytes = 0; }},
      {"reflector.max_queue_bytes", [](Cache::Options& o) { o.reflector.max_queue_bytes = 10; }},
  };
  for (const auto& [name, spoil] : bad) {
    Cache::Options options = options_;
    spoil(options);
    const absl::Status status = Cache::Create(options).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find(name), std::string::npos) << status;
  }
}

}  // namespace
}  // namespace mandate
