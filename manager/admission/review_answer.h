// The answer of a webhook to the body of a review, whichever kind of review it serves.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "manager/admission/review.h"
#include "manager/admission/webhook.h"
#include "manager/core/call_context.h"

namespace mandate {

struct ReviewAnswer {
  std::string body = {};  // a review with its response; HTTP 200, as controller-runtime answers
  std::optional<std::string> exception = {};  // what the handler threw, if it threw
  // If it is not OK: why the object could not be checked. The answer is the HTTP error `code`, and
  // `body` is empty.
  absl::Status check_error = {};
  int code = 500;
};

// A review whose body has been read.
struct ParsedReview {
  // The flow of the user who writes the object (FlowOf()); nullopt for a conversion, and for a body
  // that is not a review.
  std::optional<std::string> flow;
  // Runs the handler. Call it once.
  std::function<ReviewAnswer(const CallContext& context)> answer;
};

// Reads the body, which may then be destroyed. A body that is not a review, or of another content
// type, is answered with an error in the review. A user of more than `max_user_info_bytes` is a
// 413. `webhook` outlives the result.
ParsedReview ReadReviewBody(const Webhook& webhook, std::string_view content_type,
                            std::string_view body, size_t max_user_info_bytes = kMaxUserInfoBytes);

}  // namespace mandate
