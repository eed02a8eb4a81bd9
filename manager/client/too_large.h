// The mark of a call whose response is larger than what this process reads. Unlike other limits it
// is an answer: the server has processed the request.
#pragma once

#include "absl/status/status.h"

namespace mandate {

// `status` with the mark, in a payload: copies of the status keep it if they copy payloads.
absl::Status MarkTooLarge(absl::Status status);

bool IsTooLarge(const absl::Status& status);

}  // namespace mandate
