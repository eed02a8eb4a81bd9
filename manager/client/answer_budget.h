// Bounds the bytes of the answers that one client receives at a time.
#pragma once

#include <cstddef>
#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "manager/core/metrics.h"
#include "manager/transport/transport.h"

namespace mandate {

// A budget that concurrent answers share. The size of an answer is unknown until it has come, and a
// stream is never paused. So when the answers together exceed the budget, the newest one that can
// be requested again is postponed, and its bytes are freed. The oldest answer is never postponed,
// so that one always completes; only that one may exceed the budget. Loop thread only.
class AnswerBudget : public std::enable_shared_from_this<AnswerBudget> {
 public:
  class Answer;
  struct Options {
    size_t max_bytes = size_t{32} << 20;   // of all answers together
    size_t max_answer = size_t{64} << 20;  // of one answer; a larger one is kResourceExhausted
    // The limit of one response to a write (it cannot be requested again) and of one error
    // response. API servers store objects of at most 1.5 MiB.
    size_t max_small_answer = size_t{8} << 20;
  };

  // `gauge` has the number of bytes that are held, added to the numbers of other budgets. May be
  // null.
  static std::shared_ptr<AnswerBudget> Create(Options options, prometheus::Gauge* gauge = nullptr) {
    return std::shared_ptr<AnswerBudget>(new AnswerBudget(options, gauge));
  }
  // Subtracts this budget's bytes from the gauge and does not use it any more: answers may outlive
  // the client, and so the gauge.
  void DropGauge();

  // Adds the newest answer. `repeatable`: it may be postponed.
  std::shared_ptr<Answer> Begin(bool repeatable);

  // Whether to request an answer again now that was postponed after `bytes`.
  bool HasCapacityFor(size_t bytes) const;
  size_t held() const { return held_; }

 private:
  AnswerBudget(Options options, prometheus::Gauge* gauge) : options_(options), gauge_(gauge) {}

  size_t LimitOf(const Answer& answer) const;
  absl::Status Take(Answer& answer, std::string_view bytes);
  void Postpone();
  void Free(Answer& answer);
  void SetHeld(size_t held);

  const Options options_;
  prometheus::Gauge* gauge_;
  std::list<Answer*> answers_;  // the oldest first
  size_t held_ = 0;
};

// Keeps a body as it comes. Each attempt of a call has its own.
class AnswerBudget::Answer : public BodySink {
 public:
  Answer(std::shared_ptr<AnswerBudget> budget, bool repeatable);
  ~Answer() override;

  void OnHead(const HttpResponse& head) override;
  // kAborted after the answer was postponed: the call ends with that error.
  absl::Status OnBody(std::string_view bytes) override;

  // Ends the answer: its bytes are the caller's, and no longer count.
  std::string TakeBody();
  // The answer is not wanted any more: data that still comes gets an error.
  void Abandon();

  bool postponed() const { return postponed_; }
  // How many bytes had come before the answer was postponed.
  size_t postponed_bytes() const { return postponed_bytes_; }
  bool too_large() const { return too_large_; }

 private:
  friend class AnswerBudget;

  const std::shared_ptr<AnswerBudget> budget_;
  const bool repeatable_;
  std::list<Answer*>::iterator place_;
  std::string body_;
  bool is_error_ = false;
  bool postponed_ = false;
  bool abandoned_ = false;
  bool too_large_ = false;
  size_t postponed_bytes_ = 0;
};

}  // namespace mandate
