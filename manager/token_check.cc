#include "manager/token_check.h"

#include <utility>

#include "manager/object/json_codec.h"
#include "manager/object/kinds/authentication_v1.h"

namespace mandate {
namespace {

RestRequest WhoAmI() {
  constexpr KindInfo kKind = KindOf<authenticationv1::SelfSubjectReview>::value;
  RestRequest request;
  request.method = "POST";
  request.target = ResourceTarget(kKind, {});
  request.body = *ToJson(authenticationv1::SelfSubjectReview(), &kKind);
  return request;
}

}  // namespace

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

void TokenCheck::Start() { CheckIn(state_, state_->options.first); }

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
  // What is answered is the client's business; only that it was, is ours.
  state->options.client->Send(context, WhoAmI(), [state](const absl::StatusOr<HttpResponse>&) {
    if (!state->stop.stop_requested()) CheckIn(state, state->options.period);
  });
}

}  // namespace mandate
