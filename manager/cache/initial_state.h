// The initial state that a watch sends at its beginning (KEP-3157).
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "manager/cache/loop_timer.h"
#include "manager/cache/store.h"
#include "manager/object/watch_frame.h"

namespace mandate {

// A collector of the initial events. Loop thread only.
class InitialState {
 public:
  // `on_silence` is called if no event arrives for this long: a proxy or an old server may have
  // dropped the bookmark at the end. It may destroy this.
  InitialState(Loop& loop, absl::Duration silence, std::function<void()> on_silence);

  // A server's error ends this attempt. The caller handles the bookmark at the end.
  absl::Status Take(WatchEvent event);

  size_t bytes() const { return store_.bytes().stored; }
  // Returns the objects, and keeps none.
  ReflectorTarget::Content Release() { return store_.Release(); }

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
