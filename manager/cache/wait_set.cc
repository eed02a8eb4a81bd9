#include "manager/cache/wait_set.h"

#include <algorithm>
#include <stop_token>
#include <string>
#include <utility>

#include "manager/cache/loop_timer.h"
#include "manager/core/strings.h"

namespace mandate {

// `result` is written once, before the latch is set, and read afterwards.
struct WaitSet::Waiter {
  explicit Waiter(Loop& loop) : deadline(loop) {}

  // Loop thread only.
  void Finish(absl::Status status) {
    if (latch.IsSet()) return;
    deadline.Cancel();
    result = std::move(status);
    latch.Set();
  }

  KindInfo kind;
  std::string what;
  Check check;
  LoopTimer deadline;
  absl::Status result;
  Latch latch;
};

namespace {

// Ends a wait whose task was destroyed before it ran, because the loop has stopped.
template <class Waiter>
class Ticket {
 public:
  explicit Ticket(std::shared_ptr<Waiter> waiter) : waiter_(std::move(waiter)) {}
  Ticket(Ticket&&) = default;
  ~Ticket() {
    if (waiter_ != nullptr) waiter_->Finish(absl::CancelledError("the loop has stopped"));
  }
  std::shared_ptr<Waiter> Take() { return std::move(waiter_); }

 private:
  std::shared_ptr<Waiter> waiter_;
};

}  // namespace

WaitSet::~WaitSet() {
  for (const auto& waiter : waiters_) {
    waiter->Finish(absl::CancelledError(StrCat("the cache has ended; waited for ", waiter->what)));
  }
}

absl::Status WaitSet::Wait(const CallContext& context, const KindInfo& kind, std::string what,
                           Check check) {
  if (auto result = check()) return *std::move(result);
  const auto late = absl::DeadlineExceededError(StrCat(
      "the cache has not seen ", what,
      " yet; its watch may be slow or closed: check mandate_cache_watches and the demand's state"));
  if (loop_.clock().TimeNow() >= context.deadline) return late;
  auto waiter = std::make_shared<Waiter>(loop_);
  waiter->kind = kind;
  waiter->what = std::move(what);
  waiter->check = std::move(check);
  loop_.Post([weak = weak_from_this(), ticket = Ticket(waiter), deadline = context.deadline,
              late]() mutable {
    auto waiter = ticket.Take();
    auto self = weak.lock();
    if (self == nullptr) {
      return waiter->Finish(
          absl::CancelledError(StrCat("the cache was destroyed during a wait for ", waiter->what)));
    }
    if (deadline < absl::InfiniteFuture()) {
      waiter->deadline.Set(deadline, [raw = waiter.get(), late] { raw->Finish(late); });
    }
    self->Add(std::move(waiter));
  });
  const std::stop_callback stop(context.stop, [&loop = loop_, waiter] {
    loop.Post([waiter] {
      waiter->Finish(absl::CancelledError(StrCat("cancelled; waited for ", waiter->what)));
    });
  });
  loop_.Await(waiter->latch);
  return waiter->result;
}

void WaitSet::Add(std::shared_ptr<Waiter> waiter) {
  if (auto result = waiter->check()) return waiter->Finish(*std::move(result));
  // Removes the waits that ended by time or by stop.
  std::erase_if(waiters_, [](const auto& other) { return other->latch.IsSet(); });
  if (!waiter->latch.IsSet()) waiters_.push_back(std::move(waiter));
}

void WaitSet::Evaluate(const KindInfo& kind) {
  if (waiters_.empty()) return;
  std::erase_if(waiters_, [&](const auto& waiter) {
    if (!waiter->latch.IsSet() && SameResource(waiter->kind, kind)) {
      if (auto result = waiter->check()) waiter->Finish(*std::move(result));
    }
    return waiter->latch.IsSet();
  });
}

}  // namespace mandate
