// The state of a watch that begins with it (KEP-3157), as it comes.
#ifndef MANAGER_CACHE_INITIAL_STATE_H_
#define MANAGER_CACHE_INITIAL_STATE_H_

#include <functional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/cache/loop_timer.h"
#include "manager/cache/store.h"
#include "manager/object/watch_frame.h"

namespace mandate {

// Loop thread only.
class InitialState {
 public:
  // `on_silence` is called when nothing has come for so long, and may destroy this: a proxy or an
  // old server may have dropped the bookmark at the end.
  InitialState(Loop& loop, absl::Duration silence, std::function<void()> on_silence);

  // An error is the end of this attempt: the server's own, or that nobody can tell what has come.
  // The bookmark at the end is the caller's.
  absl::Status Take(WatchEvent event);
  absl::Status Take(UnreadableEvent event);

  size_t bytes() const { return store_.bytes(); }
  // It is empty then.
  ObjectStore::Content Release() { return store_.Release(); }

 private:
  void Listen();

  const absl::Duration silence_;
  const std::function<void()> on_silence_;
  Loop& loop_;
  LoopTimer timer_;
  absl::Time last_event_;
  ObjectStore store_;
};

}  // namespace mandate

#endif  // MANAGER_CACHE_INITIAL_STATE_H_
