// A Reflector that waits: for the time of its next try, and for a place in the ProbeBudget.
#include <algorithm>
#include <utility>

#include "manager/cache/reflector.h"
#include "manager/cache/watch_errors.h"
#include "manager/object/api_error.h"

namespace mandate {

void Reflector::RetryNow() {
  if (phase_ == Phase::kStreamingList || phase_ == Phase::kListing || phase_ == Phase::kOpening) {
    hinted_ = true;
    return;
  }
  if (phase_ != Phase::kWaiting) return;
  const bool may_help = status_.state == DemandState::kForbidden ||
                        status_.state == DemandState::kKindAbsent || LacksIdentity(status_.reason);
  if (!may_help) return;
  backoff_.ResetAccess();
  if (probe_ != nullptr && probe_->IsWaitingHint()) return;
  WaitFor(std::max(absl::ZeroDuration(),
                   last_attempt_ + options_.retry_now_interval - loop_.clock().TimeNow()),
          next_, /*hinted=*/true);
}

void Reflector::OnOutageEnd() {
  const absl::Time now = loop_.clock().TimeNow();
  if (phase_ != Phase::kWaiting || probe_ != nullptr || !waits_for_answer_) return;
  if (now < outage_ended_at_ + options_.outage_end_interval) return;
  // Not all at once.
  const absl::Duration soon =
      options_.retry_now_interval * std::uniform_real_distribution<double>(0, 1)(random_);
  if (waits_until_ <= now + soon) return;
  outage_ended_at_ = now;
  WaitFor(soon, next_);
}

bool Reflector::IsLong(const absl::Status& why) const {
  const absl::Duration asked = RetryAfter(why).value_or(absl::ZeroDuration());
  return IsTooManyRequests(why) || asked > options_.response_timeout || account_.exceeded();
}

void Reflector::WaitFor(absl::Duration delay, Next next, bool hinted) {
  phase_ = Phase::kWaiting;
  next_ = next;
  probe_.reset();
  place_.reset();
  account_.Close();
  waits_until_ = loop_.clock().TimeNow() + delay;
  timer_.SetAfter(delay, [this, hinted] {
    if (status_.state != DemandState::kForbidden) return Begin(next_);
    if (!hinted && namespace_is_gone_ != nullptr && namespace_is_gone_(client_->component())) {
      return WaitFor(backoff_.WhileForbidden(), next_);
    }
    const auto urgency = hinted ? ProbeBudget::Urgency::kHint : ProbeBudget::Urgency::kPeriodic;
    probe_ = probes_.Ask(
        client_->component(), flows_(), urgency, [this] { GoOn(); }, pool_);
  });
}

void Reflector::Begin(Next next) {
  phase_ = Phase::kWaiting;
  next_ = next;
  place_ = probes_.Begin(client_->component(), flows_(), pool_);
  if (place_ != nullptr) return DoNext();
  // The requests before it have no answer yet: to those who wait, this is no answer, either.
  AwaitAnswer(next == Next::kWatch ? "watch" : "list");
  probe_ = probes_.Ask(
      client_->component(), flows_(), ProbeBudget::Urgency::kFirst, [this] { GoOn(); }, pool_);
}

void Reflector::GoOn() {
  place_ = std::move(probe_);
  DoNext();
}

void Reflector::DoNext() {
  switch (next_) {
    case Next::kPass:
      return StartPass();
    case Next::kList:
      return StartList();
    case Next::kWatch:
      return StartWatch();
  }
}

void Reflector::Continue(Next next) {
  if (place_ == nullptr) return Begin(next);
  next_ = next;
  DoNext();
}

void Reflector::StopInPlace() {
  auto place = std::move(place_);
  Stop();
  place_ = std::move(place);
}

void Reflector::ReturnPlace() {
  if (place_ == nullptr) return;
  place_->NoteAnswer();
  place_.reset();
}

}  // namespace mandate
