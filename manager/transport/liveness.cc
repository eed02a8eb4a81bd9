#include "manager/transport/liveness.h"

#include <utility>

namespace mandate {

Liveness::Liveness(Loop& loop, Options options, Actions actions)
    : loop_(loop), options_(options), actions_(std::move(actions)) {}

void Liveness::Start() {
  if (timer_ != nullptr) return;
  Heard();
  SetTimer(heard_ + options_.silence_limit);
}

void Liveness::Stop() { timer_.reset(); }

void Liveness::ProbeNotSent() {
  if (timer_ == nullptr) return;
  Stop();
  Start();
}

void Liveness::SetTimer(absl::Time when) {
  timer_ = loop_.RunAt(when, [this] { Check(); });
}

void Liveness::Check() {
  const absl::Time now = loop_.clock().TimeNow();
  if (heard_ < probed_) {
    timer_.reset();
    actions_.found_dead();
    return;
  }
  // Not at every byte: the timer moves only when it fires.
  if (now < heard_ + options_.silence_limit) return SetTimer(heard_ + options_.silence_limit);
  if (!Probe()) ProbeNotSent();
}

void Liveness::Doubt() {
  if (timer_ != nullptr && heard_ >= probed_) Probe();
}

bool Liveness::Probe() {
  if (!actions_.send_probe()) return false;
  probed_ = loop_.clock().TimeNow();
  SetTimer(probed_ + options_.probe_timeout);
  return true;
}

}  // namespace mandate
