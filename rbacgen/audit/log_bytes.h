// Reads the bytes of a log, plain or gzipped.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace mandate::rbacgen {

// Calls `chunk` with the file's bytes in order; each view is valid until the call returns. "-" is
// standard input. Input that begins like gzip (RFC 1952, also with several members) is unpacked.
// NotFound if the file cannot be opened, or is a special file that OpenForReading() rejects.
// Unavailable if it cannot be read to its end; `chunk` has
// then been called with the bytes before the error.
absl::Status ReadLogBytes(const std::string& path,
                          const std::function<void(std::string_view)>& chunk);

}  // namespace mandate::rbacgen
