// Which options of a Cache are valid.
#include "manager/cache/cache.h"
#include "manager/core/strings.h"

namespace mandate {

absl::Status Cache::Check(const Options& options) {
  const auto positive = [](const char* name, auto value, auto zero) {
    return value > zero ? absl::OkStatus()
                        : absl::InvalidArgumentError(
                              StrCat("cache option ", name, " must be greater than zero"));
  };
  absl::Status status;
  status.Update(positive("proof_lifetime", options.proof_lifetime, absl::ZeroDuration()));
  status.Update(
      positive("access.review_timeout", options.access.review_timeout, absl::ZeroDuration()));
  status.Update(positive("reflector.min_watch_timeout", options.reflector.min_watch_timeout,
                         absl::Seconds(1) - absl::Nanoseconds(1)));
  status.Update(positive("max_sponsor_failures", options.max_sponsor_failures, 0));
  status.Update(positive("own_write_wait", options.own_write_wait, absl::ZeroDuration()));
  status.Update(positive("max_own_writes", options.max_own_writes, 0));
  status.Update(positive("max_closed_scopes", options.max_closed_scopes, 0));
  status.Update(positive("max_watch_bytes", options.max_watch_bytes, 0u));
  status.Update(positive("max_watches", options.max_watches, 0u));
  status.Update(positive("max_list_bytes", options.max_list_bytes, 0u));
  status.Update(positive("probes.per_second", options.probes.per_second, 0.0));
  status.Update(positive("probes.burst", options.probes.burst, 0));
  status.Update(positive("probes.hints.per_second", options.probes.hints.per_second, 0.0));
  status.Update(positive("probes.hints.burst", options.probes.hints.burst, 0));
  status.Update(positive("probes.rechecks.per_second", options.probes.rechecks.per_second, 0.0));
  status.Update(positive("probes.rechecks.burst", options.probes.rechecks.burst, 0));
  status.Update(positive("probes.firsts.per_second", options.probes.firsts.per_second, 0.0));
  status.Update(positive("probes.firsts.burst", options.probes.firsts.burst, 0));
  status.Update(positive("probes.max_under_way", options.probes.max_under_way, 0));
  status.Update(positive("probes.min_under_way", options.probes.min_under_way, 0));
  status.Update(positive("probes.slow_after", options.probes.slow_after, absl::ZeroDuration()));
  status.Update(positive("probes.hung_after", options.probes.hung_after, absl::ZeroDuration()));
  status.Update(positive("probes.reopens.per_second", options.probes.reopens.per_second, 0.0));
  status.Update(positive("probes.reopens.burst", options.probes.reopens.burst, 0));
  status.Update(positive("closes.per_second", options.closes.per_second, 0.0));
  status.Update(positive("closes.burst", options.closes.burst, 0));
  status.Update(positive("closes.max_waiting", options.closes.max_waiting, 0));
  status.Update(positive("max_events_per_loop_turn", options.max_events_per_loop_turn, 0));
  status.Update(positive("max_watches_per_loop_turn", options.max_watches_per_loop_turn, 0));
  status.Update(positive("max_repacked_per_loop_turn", options.max_repacked_per_loop_turn, 0));
  status.Update(positive("reflector.page_size", options.reflector.page_size, 0));
  status.Update(positive("reflector.max_pages", options.reflector.max_pages, 0));
  status.Update(positive("reflector.max_bytes", options.reflector.max_bytes, 0u));
  status.Update(positive("reflector.max_frame_bytes", options.reflector.max_frame_bytes, 0u));
  if (options.reflector.max_queue_bytes < options.reflector.max_frame_bytes) {
    status.Update(absl::InvalidArgumentError(
        "cache option reflector.max_queue_bytes must be at least reflector.max_frame_bytes, "
        "because a frame must fit into the queue"));
  }
  return status;
}

}  // namespace mandate
