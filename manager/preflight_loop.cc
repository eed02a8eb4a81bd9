#include "manager/preflight_loop.h"

#include <utility>

namespace mandate {
namespace {

void Count(const PreflightLoop::Options& options, const absl::Status& found) {
  if (options.metrics == nullptr) return;
  const char* outcome = found.ok()                          ? "granted"
                        : absl::IsFailedPrecondition(found) ? "missing"
                                                            : "unanswered";
  options.metrics
      ->Counter("mandate_preflight_checks_total",
                "Checks of a component's declared permissions, by outcome",
                {{"identity", options.component}, {"outcome", outcome}})
      .Increment();
}

}  // namespace

// Shared with the check that runs and with what it posts.
struct PreflightLoop::State {
  explicit State(Options o)
      : options(std::move(o)),
        loop(*options.loop),
        random(options.seed),
        retry(options.retry),
        recheck_backoff(options.recheck_backoff) {}

  absl::Time Now() const { return loop.clock().TimeNow(); }

  const Options options;
  Loop& loop;
  std::stop_source stop;
  // Loop thread only.
  std::mt19937_64 random;
  Backoff retry;
  Backoff recheck_backoff;
  bool running = false;
  bool rechecking = false;  // Recheck() asked for this check, or for the next
  bool again = false;       // Recheck() came during the check, which may have asked before
  absl::Time last_end = absl::InfinitePast();
  absl::Time earliest = absl::InfinitePast();  // of the next check that Recheck() asks for
  std::unique_ptr<Loop::Timer> timer;          // of the next check
};

PreflightLoop::PreflightLoop(Options options)
    : state_(std::make_shared<State>(std::move(options))) {}

PreflightLoop::~PreflightLoop() {
  state_->stop.request_stop();
  state_->timer.reset();
}

void PreflightLoop::Start() { RunCheck(state_); }

const std::string& PreflightLoop::component() const { return state_->options.component; }

void PreflightLoop::Recheck() {
  State& state = *state_;
  if (state.running) {
    state.again = true;
  } else if (state.timer == nullptr) {
    if (state.Now() - state.last_end >= state.options.recheck_backoff.max) {
      state.recheck_backoff.Reset();
      state.earliest = absl::InfinitePast();
    }
    state.rechecking = true;
    RunCheckAt(state_, state.earliest);
  }
}

void PreflightLoop::RunCheckAt(const std::shared_ptr<State>& state, absl::Time when) {
  if (when <= state->Now()) return RunCheck(state);
  state->timer = state->loop.RunAt(when, [state] { RunCheck(state); });
}

void PreflightLoop::RunCheck(const std::shared_ptr<State>& state) {
  // The timer's task may be what holds this.
  const std::shared_ptr<State> keep = state;
  keep->timer = nullptr;
  keep->running = true;
  keep->again = false;
  keep->options.workers->Post([state = keep] {
    if (state->stop.stop_requested()) return;
    const CallContext context{state->Now() + state->options.timeout, state->stop.get_token()};
    absl::Status found = state->options.check(context);
    // The loop is the thread that destroys the owner: it cannot do so between check and report.
    state->loop.Post([state, found = std::move(found)] {
      if (!state->stop.stop_requested()) EndCheck(state, found);
    });
  });
}

void PreflightLoop::EndCheck(const std::shared_ptr<State>& state, const absl::Status& found) {
  state->running = false;
  state->last_end = state->Now();
  Count(state->options, found);
  if (!found.ok()) {
    state->rechecking = false;
    state->recheck_backoff.Reset();
    RunCheckAt(state, state->Now() + state->retry.Next(state->random));
  } else {
    state->retry.Reset();
    if (state->rechecking)
      state->earliest = state->Now() + state->recheck_backoff.Next(state->random);
    state->rechecking = state->again;
    if (state->again) RunCheckAt(state, state->earliest);
  }
  state->options.report(found);
}

}  // namespace mandate
