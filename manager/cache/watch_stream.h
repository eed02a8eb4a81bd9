// One WATCH: decodes its bytes to events, within limits.
#pragma once

#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/cache/watch_budget.h"
#include "manager/client/rest_client.h"
#include "manager/object/watch_frame.h"

namespace mandate {

// Bytes wait in a bounded queue, and each turn of the loop decodes some frames, so that a busy
// watch does not block the loop. A turn decodes at least half of the queue, so the queue stays
// below twice the data that arrives in one turn; but a turn that has taken long ends earlier, while
// less than half of the bound waits. The stream is never paused: on overflow it ends, and the
// reader lists again. That loses nothing, because a list is complete. Loop thread only.
class WatchStream {
 public:
  struct Options {
    size_t max_frame_bytes = FrameSplitter::kDefaultMaxFrame;
    size_t max_queue_bytes = size_t{32} << 20;
    int frames_per_turn = 256;  // or more: at least half of the queue
    absl::Duration long_turn = absl::Milliseconds(5);
    // The server ends a watch after its timeoutSeconds. If the watch is still open after this time,
    // the connection is dead.
    absl::Duration lifetime = absl::InfiniteDuration();
    // The bytes that wait to be read count in it, from 64 KiB on; a watch that exceeds it ends like
    // one that overflows. Null: there is no budget. Outlives the stream, or its Mute().
    WatchBudget::Account* account = nullptr;
  };

  // The end of a watch.
  struct End {
    // kNeverOpened: the server's or the transport's error. kOverflow: kResourceExhausted, because
    // of a limit of this process. kInvalid: kInvalidArgument, a frame that is not an event.
    // kClosed: by the server, by the network or by this class after its maximum lifetime; a reader
    // that resumes need not distinguish them.
    enum class Kind { kNeverOpened, kOverflow, kInvalid, kClosed } kind = Kind::kClosed;
    absl::Status status;
    absl::Duration duration;  // since Start()
    int events = 0;           // without ERROR events
  };

  // Each call may destroy the WatchStream. No call is made inside a function of it.
  class Observer {
   public:
    virtual ~Observer() = default;
    virtual void OnWatchOpen() = 0;
    virtual void OnWatchEvent(WatchEvent event) = 0;
    // Some events were delivered; the loop runs other tasks before the next ones.
    virtual void OnWatchTurn() {}
    // The last call.
    virtual void OnWatchEnd(const End& end) = 0;
  };

  // `observer` outlives this; `client` too.
  WatchStream(RestClient& client, RestRequest request, Options options, Observer& observer);
  // Cancels.
  ~WatchStream();
  // From now on it delivers nothing, and calls nobody. The server's events are skipped.
  void Mute();
  WatchStream(const WatchStream&) = delete;
  WatchStream& operator=(const WatchStream&) = delete;

 private:
  class Session;
  std::shared_ptr<Session> session_;
};

}  // namespace mandate
