// The options of a reflector. If client-go has the same option, the default is client-go's.
#pragma once

#include <cstddef>

#include "absl/time/time.h"
#include "manager/core/backoff.h"

namespace mandate {

struct ReflectorOptions {
  // Whether built-in kinds are requested in protobuf instead of JSON. A server may still answer in
  // JSON.
  bool protobuf = true;

  // Whether the initial state is requested by a watch (KEP-3157) first, and by LIST only if that
  // fails.
  bool watch_list = true;
  // After this time without an event, the initial state is requested by LIST, because a proxy may
  // have dropped the bookmark at its end.
  absl::Duration initial_events_silence = absl::Seconds(30);

  int page_size = 500;
  int max_pages = 20'000;
  size_t max_item_bytes = size_t{8} << 20;
  absl::Duration page_timeout = absl::Seconds(60);

  // timeoutSeconds is random in [this, twice this).
  absl::Duration min_watch_timeout = absl::Minutes(5);
  // The time after timeoutSeconds at which the reflector closes the watch itself.
  absl::Duration watch_grace = absl::Seconds(30);
  // An open watch without an event for this time may be stuck. API servers send a bookmark every
  // minute. If this server has sent any, synced objects become stale, and the reflector lists
  // again; otherwise it only opens the watch again.
  absl::Duration max_watch_silence = absl::Seconds(150);
  // A watch that ends earlier than this and without an event has failed.
  absl::Duration min_watch_duration = absl::Seconds(1);
  // After this many consecutive watches that ended earlier than that, with events, the reflector
  // waits before the next one.
  int max_consecutive_short_watches = 5;
  // The time without data after which a list, or a watch that is being opened, counts as
  // unanswered. Synced objects then become stale, the status names the request, and another client
  // of the watch may try.
  absl::Duration response_timeout = absl::Seconds(10);
  // If no client got an answer, the server may be slow for all. Each client then waits four times
  // as long as before, up to this limit, until one gets an answer.
  absl::Duration max_response_timeout = absl::Minutes(2);

  // The limit of the stored objects that it holds, and separately of the list or initial events
  // that will replace them, so that it may use twice this while it lists again. If it is exceeded,
  // reads of the kind are kResourceExhausted, and the kind is listed again after a wait.
  size_t max_bytes = size_t{1} << 30;

  size_t max_frame_bytes = size_t{8} << 20;
  size_t max_queue_bytes = size_t{32} << 20;

  Backoff::Options backoff;
  // The backoff starts again with its initial delay after this time without a failure, and after a
  // watch that was open for longer than the last delay.
  absl::Duration backoff_reset = absl::Minutes(2);

  // After a 403. With its jitter, and the time of a request, a wait is less than a minute.
  Backoff::Options forbidden_backoff = {
      .initial = absl::Seconds(1), .factor = 2, .max = absl::Seconds(48), .jitter = 0.2};
  Backoff::Options absent_backoff = {
      .initial = absl::Seconds(2), .factor = 2, .max = absl::Seconds(30), .jitter = 0.2};
  // The minimum interval between requests that hints cause.
  absl::Duration retry_now_interval = absl::Seconds(1);
  // The same for the ends of outages: one watch may fail alone, between the successes of others.
  absl::Duration outage_end_interval = absl::Seconds(5);
};

}  // namespace mandate
