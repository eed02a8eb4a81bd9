#include "manager/admission/review_envelope.h"

#include "manager/core/status_macros.h"
#include "manager/object/json_cursor.h"

namespace mandate {

absl::StatusOr<ReviewEnvelope> ReadReviewEnvelope(std::string_view body) {
  ReviewEnvelope review;
  std::string_view key;
  JsonCursor json(body);
  for (json.BeginObject(); json.NextMember(&key);) {
    if (key == "apiVersion") {
      json.ReadString(&review.api_version);
    } else if (key == "kind") {
      json.ReadString(&review.kind);
    } else if (key == "request") {
      json.SkipValue(&review.request);
    } else {
      json.SkipValue();
    }
  }
  RETURN_IF_ERROR(json.Finish());
  if (review.request == "null") review.request = {};
  return review;
}

}  // namespace mandate
