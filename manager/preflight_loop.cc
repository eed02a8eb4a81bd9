#include "manager/preflight_loop.h"

#include <utility>

#include "manager/core/status_macros.h"

namespace mandate {
namespace {

absl::Status Pass(const CallContext& context, RestClient& client, const PreflightOptions& options) {
  ASSIGN_OR_RETURN(const PreflightReport report, Preflight(context, client, options));
  return report.ToStatus();
}

}  // namespace

// Shared with the pass that runs and with what it posts.
struct PreflightLoop::State {
  explicit State(Options o) : options(std::move(o)), loop(options.client->loop()) {}

  const Options options;
  Loop& loop;
  std::stop_source stop;
  std::unique_ptr<Loop::Timer> timer;  // loop thread only
};

PreflightLoop::PreflightLoop(Options options)
    : state_(std::make_shared<State>(std::move(options))) {}

PreflightLoop::~PreflightLoop() {
  state_->stop.request_stop();
  state_->timer.reset();
}

void PreflightLoop::Start() { RunPass(state_); }

void PreflightLoop::RunPass(const std::shared_ptr<State>& state) {
  state->options.workers->Post([state] {
    if (state->stop.stop_requested()) return;
    const CallContext context{state->loop.clock().TimeNow() + state->options.timeout,
                              state->stop.get_token()};
    absl::Status found = Pass(context, *state->options.client, state->options.preflight);
    // On the loop nobody destroys this between the question and the report.
    state->loop.Post([state, found = std::move(found)] {
      if (state->stop.stop_requested()) return;
      if (!found.ok()) {
        state->timer = state->loop.RunAt(state->loop.clock().TimeNow() + state->options.retry,
                                         [state] { RunPass(state); });
      }
      state->options.report(found);
    });
  });
}

}  // namespace mandate
