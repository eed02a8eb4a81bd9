#include "manager/admission/review_answer.h"

#include <exception>
#include <utility>
#include <vector>

#include "manager/admission/review.h"
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
  SetError(code, status, call);
  if (!uid.empty()) call.response().set_uid(std::string(uid));
  return WriteAdmissionReview(api_version, call.response());
}

ReviewAnswer AnswerAdmission(const AdmissionHandler& handler, const CallContext& context,
                             std::string_view body) {
  const absl::StatusOr<AdmissionReview> review = ParseAdmissionReview(body);
  if (!review.ok()) {
    return {
        AdmissionError(400, absl::InvalidArgumentError(review.status().message()), "", kLatest)};
  }
  AdmissionCall call(context, review->request);
  const std::string& uid = review->request.uid();
  // Nothing counts of what the handler set before it threw.
  if (auto exception = ExceptionOf([&] { handler(call); })) {
    return {AdmissionError(500, absl::InternalError(kFailed), uid, review->api_version),
            std::move(exception)};
  }
  call.response().set_uid(uid);
  return {WriteAdmissionReview(review->api_version, call.response())};
}

ReviewAnswer AnswerConversion(const Conversions& conversions, std::string_view body) {
  const absl::StatusOr<ConversionRequest> request = ParseConversionReview(body);
  if (!request.ok()) return {WriteConversionReview("", request.status())};
  absl::StatusOr<std::vector<std::string>> converted = absl::InternalError(kFailed);
  auto exception = ExceptionOf([&] { converted = conversions.Convert(*request); });
  return {WriteConversionReview(request->uid, converted), std::move(exception)};
}

}  // namespace

ReviewAnswer AnswerReview(const Webhook& webhook, const CallContext& context,
                          std::string_view content_type, std::string_view body) {
  if (content_type == "application/json") {
    return webhook.conversions != nullptr ? AnswerConversion(*webhook.conversions, body)
                                          : AnswerAdmission(webhook.handler, context, body);
  }
  const absl::Status wrong = absl::InvalidArgumentError(
      StrCat("Content-Type is \"", content_type, "\"; it must be application/json"));
  return {webhook.conversions != nullptr ? WriteConversionReview("", wrong)
                                         : AdmissionError(400, wrong, "", kLatest)};
}

}  // namespace mandate
