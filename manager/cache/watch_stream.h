// One WATCH: from a stream of bytes to events, within bounds.
#ifndef MANAGER_CACHE_WATCH_STREAM_H_
#define MANAGER_CACHE_WATCH_STREAM_H_

#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/cache/watch_budget.h"
#include "manager/client/rest_client.h"
#include "manager/object/watch_frame.h"

namespace mandate {

// Bytes wait in a bounded queue and are read some frames a turn, so that a busy watch does not
// hold up the loop; at least half of what waits, so that the queue stays within twice what a turn
// of the loop can bring, however fast that comes. It is never paused: on overflow it ends, and the
// reader lists again, which loses nothing because a list is complete. Loop thread only.
class WatchStream {
 public:
  struct Options {
    size_t max_frame_bytes = FrameSplitter::kDefaultMaxFrame;
    size_t max_queue_bytes = size_t{32} << 20;
    int frames_per_turn = 256;  // or more, for half of what waits
    // The server ends the watch itself; when it has not by then, the connection is dead.
    absl::Duration lifetime = absl::InfiniteDuration();
    // What waits to be read counts in it, from 64 KiB on; a watch that goes beyond it ends as one
    // that overflows. Null: in none. Outlives the stream.
    WatchBudget* budget = nullptr;
  };

  // How it ended.
  struct End {
    // kNeverOpened: the server's or the transport's error. kOverflow: kResourceExhausted, of our
    // bounds. kInvalid: kInvalidArgument, a frame that is not an event. kClosed: by the server, by
    // the network or by our lifetime guard, which is the same to a reader that resumes.
    enum class Kind { kNeverOpened, kOverflow, kInvalid, kClosed } kind = Kind::kClosed;
    absl::Status status;
    absl::Duration duration;  // since Start()
    int events = 0;           // ERROR events not among them
  };

  // Each call may destroy the WatchStream; none is made inside its functions.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void OnWatchOpen() = 0;
    virtual void OnWatchEvent(WatchEvent event) = 0;
    // Some events were told, and the loop has its turn before the next ones.
    virtual void OnWatchTurn() {}
    // Last.
    virtual void OnWatchEnd(const End& end) = 0;
  };

  // `observer` outlives this; `client` too.
  WatchStream(RestClient& client, RestRequest request, Options options, Observer& observer);
  // Cancels.
  ~WatchStream();
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;

 private:
  class Session;
  std::shared_ptr<Session> session_;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_WATCH_STREAM_H_
