// A callback that runs once: with an answer, or because its context has ended.
//
//   pending.Arm(loop, context, [this](absl::StatusCode why) { Finish(absl::Status(why, "…")); });
//   …
//   std::move(pending.Take())(result);
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "manager/core/call_context.h"
#include "manager/core/executor.h"

namespace mandate {

// Watches the deadline and the stop of one context. Loop thread only.
class ContextEnd {
 public:
  // kDeadlineExceeded or kCancelled.
  using Ended = std::function<void(absl::StatusCode)>;

  // Calls `ended` once, later on the loop, unless this is destroyed first. `loop` outlives this.
  ContextEnd(Loop& loop, const CallContext& context, Ended ended)
      : state_(std::make_shared<State>(std::move(ended))) {
    if (context.deadline != absl::InfiniteFuture()) {
      state_->deadline = loop.RunAt(context.deadline, [weak = std::weak_ptr(state_)] {
        Fire(weak, absl::StatusCode::kDeadlineExceeded);
      });
    }
    if (context.stop.stop_possible()) {
      // Runs on the thread that requests the stop.
      state_->stop.emplace(context.stop, [&loop, weak = std::weak_ptr(state_)] {
        loop.Post([weak] { Fire(weak, absl::StatusCode::kCancelled); });
      });
    }
  }

 private:
  struct State {
    explicit State(Ended e) : ended(std::move(e)) {}
    Ended ended;
    std::unique_ptr<Loop::Timer> deadline;
    // Its destructor waits for the callback, which only posts.
    std::optional<std::stop_callback<std::function<void()>>> stop;
  };

  static void Fire(const std::weak_ptr<State>& weak, absl::StatusCode why) {
    const auto state = weak.lock();
    if (state == nullptr) return;
    // The callback may destroy this object.
    if (const Ended ended = std::exchange(state->ended, nullptr)) ended(why);
  }

  std::shared_ptr<State> state_;
};

// Loop thread only.
template <class Result>
class Pending {
 public:
  using Done = absl::AnyInvocable<void(Result) &&>;

  explicit Pending(Done done) : done_(std::move(done)) {}

  // Calls `ended` at the end of `context`, unless Take() is called first.
  void Arm(Loop& loop, const CallContext& context, ContextEnd::Ended ended) {
    end_.emplace(loop, context, std::move(ended));
  }

  bool taken() const { return !done_.has_value(); }

  // The callback, for the caller to run. At most once.
  Done Take() {
    end_.reset();
    return *std::exchange(done_, std::nullopt);
  }

 private:
  std::optional<Done> done_;
  std::optional<ContextEnd> end_;
};

}  // namespace mandate
