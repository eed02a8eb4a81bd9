#include "manager/base_power_loop.h"

#include <random>
#include <stop_token>
#include <utility>

namespace mandate {

// Shared with the try that runs and with what it posts.
struct BasePowerLoop::State {
  explicit State(Options o)
      : options(std::move(o)),
        loop(options.base->loop()),
        random(options.seed),
        retry(options.retry) {}

  const Options options;
  Loop& loop;
  std::stop_source stop;
  // Loop thread only.
  std::mt19937_64 random;
  Backoff retry;
  std::unique_ptr<Loop::Timer> timer;
};

BasePowerLoop::BasePowerLoop(Options options)
    : state_(std::make_shared<State>(std::move(options))) {
  AskLater(state_);
}

BasePowerLoop::~BasePowerLoop() {
  state_->stop.request_stop();
  state_->timer.reset();
}

void BasePowerLoop::AskLater(const std::shared_ptr<State>& state) {
  const absl::Time when = state->loop.clock().TimeNow() + state->retry.Next(state->random);
  // The timer belongs to the state, which must not keep itself alive by it.
  state->timer = state->loop.RunAt(when, [weak = std::weak_ptr(state)] {
    if (auto alive = weak.lock()) Ask(alive);
  });
}

void BasePowerLoop::Ask(const std::shared_ptr<State>& state) {
  state->options.workers->Post([state] {
    if (state->stop.stop_requested()) return;
    const CallContext context{state->loop.clock().TimeNow() + state->options.timeout,
                              state->stop.get_token()};
    auto power = AskBasePower(context, *state->options.base, state->options.ns);
    // The loop is the thread that destroys the owner: it cannot do so between check and report.
    state->loop.Post([state, power = std::move(power)] {
      if (state->stop.stop_requested()) return;
      if (!power.ok()) AskLater(state);
      state->options.report(power);
    });
  });
}

}  // namespace mandate
