#include "manager/identity/token_waiters.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <utility>

#include "manager/core/pending.h"
#include "manager/core/strings.h"

namespace mandate {

struct TokenWaiters::State {
  using Waiter = Pending<absl::StatusOr<std::shared_ptr<const Token>>>;

  Loop& loop;
  const std::string subject;
  const size_t max;
  const WaiterMetrics series;
  absl::Status reason = {};
  uint64_t next_id = 0;
  std::map<uint64_t, Waiter> waiters = {};

  void Post(TokenSource::Callback done, absl::StatusOr<std::shared_ptr<const Token>> result) {
    loop.Post([done = std::move(done), result = std::move(result)]() mutable {
      std::move(done)(std::move(result));
    });
  }

  void GiveUp(uint64_t id, absl::Status why) {
    auto node = waiters.extract(id);
    Report();
    if (node) Post(node.mapped().Take(), std::move(why));
  }

  void Report() const {
    if (series.waiting != nullptr) series.waiting->Set(static_cast<double>(waiters.size()));
  }

  absl::Status TooLate() const {
    return absl::DeadlineExceededError(
        StrCat("the deadline passed before there was a token of ", subject,
               reason.ok() ? std::string() : StrCat(": ", AsStd(reason.message()))));
  }
  absl::Status Cancelled() const {
    return absl::CancelledError(StrCat("cancelled while waiting for a token of ", subject));
  }
};

TokenWaiters::TokenWaiters(Loop& loop, std::string subject, size_t max, WaiterMetrics series)
    : state_(new State{.loop = loop, .subject = std::move(subject), .max = max, .series = series}) {
}

TokenWaiters::~TokenWaiters() { Complete(state_->Cancelled()); }

void TokenWaiters::Add(const CallContext& context, TokenSource::Callback done) {
  State& state = *state_;
  if (context.stop.stop_requested()) return state.Post(std::move(done), state.Cancelled());
  if (context.deadline <= state.loop.clock().TimeNow()) {
    return state.Post(std::move(done), state.TooLate());
  }
  if (state.waiters.size() >= state.max) {
    if (state.series.rejected != nullptr) state.series.rejected->Increment();
    return state.Post(std::move(done), absl::ResourceExhaustedError(
                                           StrCat("more than ", state.max,
                                                  " callers wait for a token of ", state.subject)));
  }
  const uint64_t id = state.next_id++;
  State::Waiter& waiter = state.waiters.try_emplace(id, std::move(done)).first->second;
  state.Report();
  waiter.Arm(state.loop, context, [&state, id](absl::StatusCode why) {
    state.GiveUp(id, why == absl::StatusCode::kCancelled ? state.Cancelled() : state.TooLate());
  });
}

void TokenWaiters::Complete(const absl::StatusOr<std::shared_ptr<const Token>>& result) {
  std::map<uint64_t, State::Waiter> waiters = std::exchange(state_->waiters, {});
  state_->Report();
  for (auto& [id, waiter] : waiters) state_->Post(waiter.Take(), result);
}

void TokenWaiters::SetReason(absl::Status reason) { state_->reason = std::move(reason); }

}  // namespace mandate
