// The text of an error for one line of the log.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace mandate {

// The message of `status`. If it ends with a manifest to apply (its first line ends with a sentence
// and ":", and YAML follows), the result has the part before that sentence, and refers to
// /readyz?verbose for the manifest.
std::string LogReason(const absl::Status& status);

}  // namespace mandate
