// Detects a dead connection whose socket still looks open.
#pragma once

#include <functional>
#include <memory>

#include "absl/time/time.h"
#include "manager/core/executor.h"

namespace mandate {

// Asks for a probe after some silence, and reports the connection dead when the probe brings
// nothing either. Loop thread only.
class Keepalive {
 public:
  struct Options {
    absl::Duration read_idle_timeout;
    absl::Duration probe_timeout;
  };
  struct Actions {
    // False: no probe can be sent now; it is asked again after the next silence.
    std::function<bool()> send_probe;
    std::function<void()> found_dead;
  };

  Keepalive(Loop& loop, Options options, Actions actions);  // `loop` outlives this

  // Call it when the connection has requests. Starts to measure the silence, unless it does
  // already.
  void Start();
  // No request is on the connection any more.
  void Stop();
  void NoteReceived() { received_ = loop_.clock().TimeNow(); }
  // The connection is in doubt: asks for a probe at once, unless one is under way.
  void Suspect();
  // How long the connection has been silent. Valid while silence counts.
  absl::Duration silence() const { return loop_.clock().TimeNow() - received_; }
  // The probe could not be sent: silence counts from now.
  void ProbeNotSent();

 private:
  void SetTimer(absl::Time when);
  void Check();
  // False: not now.
  bool Probe();

  Loop& loop_;
  const Options options_;
  const Actions actions_;
  absl::Time received_;
  absl::Time probed_ = absl::InfinitePast();  // last probe; anything heard later shows life
  std::unique_ptr<Loop::Timer> timer_;        // null: stopped
};

}  // namespace mandate
