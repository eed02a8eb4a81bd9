#include "manager/client/answer_budget.h"

#include <algorithm>
#include <utility>

#include "manager/core/strings.h"

namespace mandate {

std::shared_ptr<AnswerBudget::Answer> AnswerBudget::Begin(bool repeatable) {
  return std::make_shared<Answer>(shared_from_this(), repeatable);
}

bool AnswerBudget::HasCapacityFor(size_t bytes) const {
  // An answer that needs more than half of the budget must not wait for ever.
  return held_ + std::min(bytes, options_.max_bytes / 2) <= options_.max_bytes;
}

size_t AnswerBudget::LimitOf(const Answer& answer) const {
  if (answer.repeatable_ && !answer.is_error_) return options_.max_answer;
  return std::min(options_.max_answer, options_.max_small_answer);
}

absl::Status AnswerBudget::Take(Answer& answer, std::string_view bytes) {
  const size_t limit = LimitOf(answer);
  if (answer.body_.size() + bytes.size() > limit) {
    answer.too_large_ = true;
    return absl::ResourceExhaustedError(
        StrCat("the response is larger than ", limit, " bytes, the limit of ",
               answer.is_error_     ? "error responses"
               : answer.repeatable_ ? "reads: request the list in pages (limit=)"
                                    : "responses to writes"));
  }
  answer.body_ += bytes;
  SetHeld(held_ + bytes.size());
  while (held_ > options_.max_bytes) {
    const size_t before = held_;
    Postpone();
    if (held_ == before) break;
  }
  if (!answer.postponed_) return absl::OkStatus();
  return absl::AbortedError("the response was dropped to save memory and will be requested again");
}

void AnswerBudget::Postpone() {
  const auto has_bytes = [](const Answer* answer) { return !answer->body_.empty(); };
  const auto oldest = std::find_if(answers_.begin(), answers_.end(), has_bytes);
  for (auto it = answers_.rbegin(); it != answers_.rend() && *it != *oldest; ++it) {
    if (!has_bytes(*it) || !(*it)->repeatable_) continue;
    (*it)->postponed_ = true;
    (*it)->postponed_bytes_ = (*it)->body_.size();
    return Free(**it);
  }
}

void AnswerBudget::Free(Answer& answer) {
  SetHeld(held_ - answer.body_.size());
  answer.body_ = std::string();
}

void AnswerBudget::SetHeld(size_t held) {
  if (gauge_ != nullptr) {
    gauge_->Increment(static_cast<double>(held) - static_cast<double>(held_));
  }
  held_ = held;
}

void AnswerBudget::DropGauge() {
  if (gauge_ != nullptr) gauge_->Decrement(static_cast<double>(held_));
  gauge_ = nullptr;
}

AnswerBudget::Answer::Answer(std::shared_ptr<AnswerBudget> budget, bool repeatable)
    : budget_(std::move(budget)),
      repeatable_(repeatable),
      place_(budget_->answers_.insert(budget_->answers_.end(), this)) {}

AnswerBudget::Answer::~Answer() {
  budget_->Free(*this);
  budget_->answers_.erase(place_);
}

void AnswerBudget::Answer::OnHead(const HttpResponse& head) {
  is_error_ = head.code >= 300;
  budget_->Free(*this);
}

absl::Status AnswerBudget::Answer::OnBody(std::string_view bytes) {
  if (postponed_)
    return absl::AbortedError(
        "the response was dropped to save memory and will be requested again");
  if (abandoned_) return absl::CancelledError("no caller waits for the response");
  return budget_->Take(*this, bytes);
}

std::string AnswerBudget::Answer::TakeBody() {
  std::string body = std::move(body_);
  budget_->SetHeld(budget_->held_ - body.size());
  body_.clear();
  return body;
}

void AnswerBudget::Answer::Abandon() {
  budget_->Free(*this);
  abandoned_ = true;
}

}  // namespace mandate
