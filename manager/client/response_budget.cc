#include "manager/client/response_budget.h"

#include <algorithm>
#include <utility>

#include "manager/client/too_large.h"
#include "manager/core/strings.h"

namespace mandate {

std::shared_ptr<ResponseBudget::Response> ResponseBudget::Begin(bool repeatable) {
  return std::make_shared<Response>(shared_from_this(), repeatable);
}

bool ResponseBudget::HasCapacityFor(size_t bytes) const {
  // A response that needs more than half of the budget must not wait for ever.
  return held_ + std::min(bytes, options_.max_bytes / 2) <= options_.max_bytes;
}

size_t ResponseBudget::LimitOf(const Response& response) const {
  if (response.repeatable_ && !response.is_error_) return options_.max_response_bytes;
  return std::min(options_.max_response_bytes, options_.max_small_response_bytes);
}

absl::Status ResponseBudget::Take(Response& response, std::string_view bytes) {
  const size_t limit = LimitOf(response);
  if (response.body_.size() + bytes.size() > limit) {
    response.too_large_ = true;
    return MarkTooLarge(absl::ResourceExhaustedError(
        StrCat("the response is larger than ", limit, " bytes, the limit of ",
               response.is_error_     ? "error responses"
               : response.repeatable_ ? "reads: request the list in pages (limit=)"
                                      : "responses to writes")));
  }
  response.body_ += bytes;
  SetHeld(held_ + bytes.size());
  while (held_ > options_.max_bytes) {
    const size_t before = held_;
    Postpone();
    if (held_ == before) break;
  }
  if (!response.postponed_) return absl::OkStatus();
  return absl::AbortedError("the response was dropped to save memory and will be requested again");
}

void ResponseBudget::Postpone() {
  const auto has_bytes = [](const Response* response) { return !response->body_.empty(); };
  const auto oldest = std::find_if(responses_.begin(), responses_.end(), has_bytes);
  for (auto it = responses_.rbegin(); it != responses_.rend() && *it != *oldest; ++it) {
    if (!has_bytes(*it) || !(*it)->repeatable_) continue;
    (*it)->postponed_ = true;
    (*it)->postponed_bytes_ = (*it)->body_.size();
    return Free(**it);
  }
}

void ResponseBudget::Free(Response& response) {
  SetHeld(held_ - response.body_.size());
  std::string().swap(response.body_);  // an assignment keeps the capacity
}

void ResponseBudget::SetHeld(size_t held) {
  if (gauge_ != nullptr) {
    gauge_->Increment(static_cast<double>(held) - static_cast<double>(held_));
  }
  held_ = held;
}

void ResponseBudget::DropGauge() {
  if (gauge_ != nullptr) gauge_->Decrement(static_cast<double>(held_));
  gauge_ = nullptr;
}

ResponseBudget::Response::Response(std::shared_ptr<ResponseBudget> budget, bool repeatable)
    : budget_(std::move(budget)),
      repeatable_(repeatable),
      place_(budget_->responses_.insert(budget_->responses_.end(), this)) {}

ResponseBudget::Response::~Response() {
  budget_->Free(*this);
  budget_->responses_.erase(place_);
}

void ResponseBudget::Response::OnHeaders(const HttpResponse& head) {
  is_error_ = head.code >= 300;
  budget_->Free(*this);
}

absl::Status ResponseBudget::Response::OnBody(std::string_view bytes) {
  if (postponed_)
    return absl::AbortedError(
        "the response was dropped to save memory and will be requested again");
  if (abandoned_) return absl::CancelledError("no caller waits for the response");
  return budget_->Take(*this, bytes);
}

std::string ResponseBudget::Response::TakeBody() {
  std::string body = std::move(body_);
  budget_->SetHeld(budget_->held_ - body.size());
  body_.clear();
  return body;
}

void ResponseBudget::Response::Abandon() {
  budget_->Free(*this);
  abandoned_ = true;
}

}  // namespace mandate
