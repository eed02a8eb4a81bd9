// AdmissionReview (admission.k8s.io) as JSON: the API server's question and our answer.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "k8s.io/api/admission/v1/generated.pb.h"

namespace mandate {

using AdmissionRequest = ::k8s::io::api::admission::v1::AdmissionRequest;
using AdmissionResponse = ::k8s::io::api::admission::v1::AdmissionResponse;

// The default of WebhookLimits::max_user_info_bytes.
inline constexpr size_t kMaxUserInfoBytes = size_t{256} << 10;

struct AdmissionReview {
  std::string api_version;  // "admission.k8s.io/v1" or "…/v1beta1"; the answer has the same
  AdmissionRequest request;
};

// kInvalidArgument: not JSON, not an AdmissionReview of v1 or v1beta1, or without a request or its
// uid. The message names the member. kOutOfRange: request.userInfo has more than
// `max_user_info_bytes`, as JSON; it is not decoded. A handler may send it to the API server in
// every access review.
absl::StatusOr<AdmissionReview> ParseAdmissionReview(
    std::string_view body, size_t max_user_info_bytes = kMaxUserInfoBytes);

// The whole review, with the response and nothing of the request. The response's bytes are valid
// JSON where the type demands it, so this cannot fail.
std::string WriteAdmissionReview(std::string_view api_version, const AdmissionResponse& response);

}  // namespace mandate
