// How a reflector lists, watches and tries again. The defaults are client-go's where it has them.
#ifndef MANAGER_CACHE_REFLECTOR_OPTIONS_H_
#define MANAGER_CACHE_REFLECTOR_OPTIONS_H_

#include <cstddef>

#include "absl/time/time.h"
#include "manager/cache/access_backoff.h"
#include "manager/core/backoff.h"

namespace mandate {

struct ReflectorOptions {
  // Asks for built-in kinds in protobuf, else JSON. A server may answer in JSON all the same.
  bool protobuf = true;

  // Initial state by a watch (KEP-3157) before falling back to LIST.
  bool watch_list = true;
  // Without an event for so long, the initial state is asked for by LIST: a proxy may have dropped
  // the bookmark that ends it.
  absl::Duration initial_events_silence = absl::Seconds(30);

  int page_size = 500;
  int max_pages = 20'000;
  size_t max_item_bytes = size_t{8} << 20;
  absl::Duration page_timeout = absl::Seconds(60);

  // timeoutSeconds is random in [this, twice this).
  absl::Duration min_watch_timeout = absl::Minutes(5);
  // Beyond timeoutSeconds, until we give the watch up ourselves.
  absl::Duration watch_grace = absl::Seconds(30);
  // A watch that is open and has brought nothing for so long may be stuck. API servers send a
  // bookmark every minute: where this one has sent any, what was synced counts as stale, and the
  // state is asked for anew. Else the watch is opened anew.
  absl::Duration max_watch_silence = absl::Seconds(150);
  // A watch that ends before this without an event has failed.
  absl::Duration very_short_watch = absl::Seconds(1);
  // So many watches in a row that ended before that, with events: then one waits before the next.
  int max_short_watches = 5;
  // How long nothing may come of a list, or of a watch that is to open. After that what was synced
  // counts as stale, the status says what is waited for, and another client of the watch may try.
  absl::Duration answer_grace = absl::Seconds(10);
  // Once all have waited in vain, the server may be slow for all: then each waits four times as
  // long as before, up to this, until one is answered.
  absl::Duration max_answer_grace = absl::Minutes(2);

  // Of the objects that it holds, in their encoded forms, and of the list or the initial events
  // that are to replace them, so that it is twice this at most while it lists again. Beyond it the
  // kind cannot be read (kResourceExhausted), and is listed again after a wait.
  size_t max_bytes = size_t{1} << 30;

  size_t max_frame_bytes = size_t{8} << 20;
  size_t max_queue_bytes = size_t{32} << 20;

  Backoff::Options backoff;
  // Starts again with its initial delay after so long without a failure, and after a watch that was
  // open for longer than backoff.max.
  absl::Duration backoff_reset = absl::Minutes(2);
  // While InternalError in a stream is answered by watching again, not by a list.
  absl::Duration max_internal_error_retry = absl::ZeroDuration();

  // After a 403.
  AccessBackoff::Options forbidden_backoff;
  Backoff::Options absent_backoff = {
      .initial = absl::Seconds(2), .factor = 2, .max = absl::Seconds(30), .jitter = 0.2};
  // Hints make nobody ask more often than this.
  absl::Duration poke_interval = absl::Seconds(1);
};

}  // namespace mandate

#endif  // MANAGER_CACHE_REFLECTOR_OPTIONS_H_
