// The answer of a webhook to the body of a review, whichever kind of review it serves.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "manager/admission/webhook.h"
#include "manager/core/call_context.h"

namespace mandate {

struct ReviewAnswer {
  std::string body;  // a review with its response; HTTP 200, as controller-runtime answers
  std::optional<std::string> exception = {};  // what the handler threw, if it threw
};

// A body that is not a review, or of another content type, is answered with an error in the review.
ReviewAnswer AnswerReview(const Webhook& webhook, const CallContext& context,
                          std::string_view content_type, std::string_view body);

}  // namespace mandate
