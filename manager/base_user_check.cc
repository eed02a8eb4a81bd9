#include "manager/base_user_check.h"

#include <stop_token>
#include <utility>

#include "manager/client/self_review.h"
#include "manager/core/strings.h"

namespace mandate {

// Shared with the request that is under way.
struct BaseUserCheck::State {
  Options options;
  Loop& loop;
  std::stop_source stop = {};
  std::unique_ptr<Loop::Timer> timer = {};
  bool asks = false;
  bool again = false;  // there is a newer token than the one under review
};

BaseUserCheck::BaseUserCheck(Options options)
    : state_(std::make_shared<State>(State{options, options.base->loop()})) {
  Ask(state_);
}

BaseUserCheck::~BaseUserCheck() {
  state_->stop.request_stop();
  state_->timer.reset();
}

void BaseUserCheck::OnNewToken() {
  if (state_->asks) {
    state_->again = true;
  } else {
    Ask(state_);
  }
}

void BaseUserCheck::Ask(const std::shared_ptr<State>& state) {
  state->asks = true;
  state->again = false;
  state->timer.reset();
  const CallContext context{state->loop.clock().TimeNow() + state->options.period,
                            state->stop.get_token()};
  state->options.base->Send(context, SelfReviewRequest(),
                            [state](const absl::StatusOr<HttpResponse>& answer) {
                              if (!state->stop.stop_requested()) OnAnswer(state, answer);
                            });
}

void BaseUserCheck::OnAnswer(const std::shared_ptr<State>& state,
                             const absl::StatusOr<HttpResponse>& answer) {
  state->asks = false;
  const absl::StatusOr<std::string> username = UserOfSelfReview(answer);
  if (username.ok() && *username != state->options.username) {
    state->stop.request_stop();
    state->options.on_other_user(absl::FailedPreconditionError(
        StrCat("the manager's own credential belongs to \"", *username,
               "\" now, but belonged to \"", state->options.username,
               "\" when the manager started; the manager exits, because the credential may have "
               "been replaced")));
  } else if (state->again) {
    Ask(state);
  } else if (!username.ok()) {
    // The timer belongs to the state, which must not keep itself alive by it.
    state->timer = state->loop.RunAt(state->loop.clock().TimeNow() + state->options.period,
                                     [weak = std::weak_ptr(state)] {
                                       if (auto alive = weak.lock()) Ask(alive);
                                     });
  }
}

}  // namespace mandate
