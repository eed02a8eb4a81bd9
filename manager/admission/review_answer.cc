#include "manager/admission/review_answer.h"

#include <exception>
#include <utility>
#include <vector>

#include "manager/admission/review.h"
#include "manager/admission/review_flow.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr char kLatest[] = "admission.k8s.io/v1";
constexpr char kFailed[] = "the webhook failed; the manager's log has the error";

// The text of the exception that `work` throws; nullopt without one.
template <class Work>
std::optional<std::string> ExceptionOf(Work work) {
  try {
    work();
    return std::nullopt;
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "unknown";
  }
}

std::string AdmissionError(int code, const absl::Status& status, std::string_view uid,
                           std::string_view api_version) {
  const AdmissionRequest none;
  AdmissionCall call({}, none);
  SetErrorResponse(code, status, call);
  if (!uid.empty()) call.response().set_uid(std::string(uid));
  return WriteAdmissionReview(api_version, call.response());
}

ReviewAnswer AnswerAdmission(const AdmissionHandler& handler, const CallContext& context,
                             const AdmissionReview& review) {
  AdmissionCall call(context, review.request);
  const std::string& uid = review.request.uid();
  // Nothing counts of what the handler set before it threw.
  if (auto exception = ExceptionOf([&] { handler(call); })) {
    return {AdmissionError(500, absl::InternalError(kFailed), uid, review.api_version),
            std::move(exception)};
  }
  if (const absl::Status& why = call.check_error(); !why.ok()) {
    // Of a 500, unlike of a 503, the API server shows the text to its user.
    return {.check_error = why, .code = absl::IsDeadlineExceeded(why) ? 504 : 500};
  }
  call.response().set_uid(uid);
  return {WriteAdmissionReview(review.api_version, call.response())};
}

ReviewAnswer AnswerConversion(const Conversions& conversions, const ConversionRequest& request) {
  absl::StatusOr<std::vector<std::string>> converted = absl::InternalError(kFailed);
  auto exception = ExceptionOf([&] { converted = conversions.Convert(request); });
  return {WriteConversionReview(request.uid, converted), std::move(exception)};
}

// The answer is known without a handler.
ParsedReview Invalid(const Webhook& webhook, const absl::Status& why) {
  std::string body =
      webhook.conversions != nullptr
          ? WriteConversionReview("", why)
          : AdmissionError(400, absl::InvalidArgumentError(why.message()), "", kLatest);
  return {std::nullopt,
          [body = std::move(body)](const CallContext&) { return ReviewAnswer{body}; }};
}

}  // namespace

ParsedReview ReadReviewBody(const Webhook& webhook, std::string_view content_type,
                            std::string_view body, size_t max_user_info_bytes) {
  if (content_type != "application/json") {
    return Invalid(webhook, absl::InvalidArgumentError(StrCat("Content-Type is \"", content_type,
                                                              "\"; it must be application/json")));
  }
  if (webhook.conversions != nullptr) {
    absl::StatusOr<ConversionRequest> request = ParseConversionReview(body);
    if (!request.ok()) return Invalid(webhook, request.status());
    return {std::nullopt, [&webhook, request = *std::move(request)](const CallContext&) {
              return AnswerConversion(*webhook.conversions, request);
            }};
  }
  absl::StatusOr<AdmissionReview> review = ParseAdmissionReview(body, max_user_info_bytes);
  if (absl::IsOutOfRange(review.status())) {
    return {std::nullopt, [why = review.status()](const CallContext&) {
              return ReviewAnswer{.check_error = why, .code = 413};
            }};
  }
  if (!review.ok()) return Invalid(webhook, review.status());
  std::string flow = FlowOf(review->request.userinfo().username());
  return {std::move(flow), [&webhook, review = *std::move(review)](const CallContext& context) {
            return AnswerAdmission(webhook.handler, context, review);
          }};
}

}  // namespace mandate
