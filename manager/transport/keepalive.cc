#include "manager/transport/keepalive.h"

#include <utility>

namespace mandate {

Keepalive::Keepalive(Loop& loop, Options options, Actions actions)
    : loop_(loop), options_(options), actions_(std::move(actions)) {}

void Keepalive::Start() {
  if (timer_ != nullptr) return;
  NoteReceived();
  SetTimer(received_ + options_.read_idle_timeout);
}

void Keepalive::Stop() { timer_.reset(); }

void Keepalive::ProbeNotSent() {
  if (timer_ == nullptr) return;
  Stop();
  Start();
}

void Keepalive::SetTimer(absl::Time when) {
  timer_ = loop_.RunAt(when, [this] { Check(); });
}

void Keepalive::Check() {
  const absl::Time now = loop_.clock().TimeNow();
  if (received_ < probed_) {
    timer_.reset();
    actions_.found_dead();
    return;
  }
  // The timer moves only when it fires, not at every byte.
  if (now < received_ + options_.read_idle_timeout)
    return SetTimer(received_ + options_.read_idle_timeout);
  if (!Probe()) ProbeNotSent();
}

void Keepalive::Suspect() {
  if (timer_ != nullptr && received_ >= probed_) Probe();
}

bool Keepalive::Probe() {
  if (!actions_.send_probe()) return false;
  probed_ = loop_.clock().TimeNow();
  SetTimer(probed_ + options_.probe_timeout);
  return true;
}

}  // namespace mandate
