#include "manager/admission/review_envelope.h"

#include "manager/core/status_macros.h"
#include "manager/object/json_cursor.h"

namespace mandate {
namespace {

// Reads a value of any type. The members of an object that are repeated count each time.
void ReadRequest(JsonCursor& json, ReviewEnvelope& review) {
  const bool is_object = json.Peek() == JsonCursor::Token::kObject;
  const size_t start = json.Offset();
  review.user_info_bytes = 0;
  if (is_object) {
    std::string_view key, value;
    for (json.BeginObject(); json.NextMember(&key);) {
      const bool is_user = key == "userInfo";
      if (json.SkipValue(&value) && is_user) review.user_info_bytes += value.size();
    }
  } else {
    json.SkipValue();
  }
  review.request = json.TextSince(start);
}

}  // namespace

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
      ReadRequest(json, review);
    } else {
      json.SkipValue();
    }
  }
  RETURN_IF_ERROR(json.Finish());
  if (review.request == "null") review.request = {};
  return review;
}

}  // namespace mandate
