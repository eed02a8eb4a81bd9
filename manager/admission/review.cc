#include "manager/admission/review.h"

#include "manager/admission/review_envelope.h"
#include "manager/core/printable.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/json_codec.h"

namespace mandate {
namespace {

constexpr std::string_view kVersions[] = {"admission.k8s.io/v1", "admission.k8s.io/v1beta1"};

bool IsKnown(std::string_view api_version) {
  for (const std::string_view known : kVersions) {
    if (api_version == known) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<AdmissionReview> ParseAdmissionReview(std::string_view body,
                                                     size_t max_user_info_bytes) {
  ASSIGN_OR_RETURN(const ReviewEnvelope envelope, ReadReviewEnvelope(body));
  if (envelope.kind != "AdmissionReview" || !IsKnown(envelope.api_version)) {
    return absl::InvalidArgumentError(
        StrCat("the body is \"", envelope.kind, "\" of \"", envelope.api_version,
               "\"; it must be an AdmissionReview of ", kVersions[0], " or ", kVersions[1]));
  }
  if (envelope.request.empty()) {
    return absl::InvalidArgumentError("the AdmissionReview has no request");
  }
  if (envelope.user_info_bytes > max_user_info_bytes) {
    return absl::OutOfRangeError(StrCat("request.userInfo: ", envelope.user_info_bytes,
                                        " bytes; the limit is ", max_user_info_bytes,
                                        ": the user's groups or extra fields are too large"));
  }
  AdmissionReview review;
  review.api_version = envelope.api_version;
  if (const absl::Status status = FromJson(envelope.request, review.request); !status.ok()) {
    return absl::InvalidArgumentError(StrCat("request: ", AsStd(status.message())));
  }
  if (review.request.uid().empty()) {
    return absl::InvalidArgumentError("request.uid: missing in the AdmissionReview");
  }
  return review;
}

std::string WriteAdmissionReview(std::string_view api_version, const AdmissionResponse& response) {
  std::string text = R"({"kind":"AdmissionReview","apiVersion":)";
  AppendJsonString(api_version, text);
  const absl::StatusOr<std::string> written = ToJson(response);
  StrAppend(&text, R"(,"response":)", written.ok() ? AsAbsl(*written) : "{}", "}");
  return text;
}

}  // namespace mandate
