#include "manager/token_check.h"

#include <utility>

#include "manager/client/self_review.h"

namespace mandate {

// Shared with the request that is under way.
struct TokenCheck::State {
  Options options;
  Loop& loop;
  std::stop_source stop = {};
  std::unique_ptr<Loop::Timer> timer = {};
};

TokenCheck::TokenCheck(const Options& options)
    : state_(std::make_shared<State>(State{options, options.client->loop()})) {}

TokenCheck::~TokenCheck() {
  state_->stop.request_stop();
  state_->timer.reset();
}

void TokenCheck::Start() { CheckIn(state_, state_->options.initial_delay); }

void TokenCheck::CheckIn(const std::shared_ptr<State>& state, absl::Duration wait) {
  // The timer belongs to the state, which must not keep itself alive by it.
  state->timer =
      state->loop.RunAt(state->loop.clock().TimeNow() + wait, [weak = std::weak_ptr(state)] {
        if (auto alive = weak.lock()) Check(alive);
      });
}

void TokenCheck::Check(const std::shared_ptr<State>& state) {
  const CallContext context{state->loop.clock().TimeNow() + state->options.period,
                            state->stop.get_token()};
  // The client handles the answer; this only waits for it.
  RestRequest request = SelfReviewRequest();
  request.idempotent = false;  // the next check is the next try
  state->options.client->Send(context, std::move(request),
                              [state](const absl::StatusOr<HttpResponse>&) {
                                if (!state->stop.stop_requested())
                                  CheckIn(state, state->options.period);
                              });
}

}  // namespace mandate
