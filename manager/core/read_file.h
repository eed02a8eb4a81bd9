// The content of a file.
#ifndef MANAGER_CORE_READ_FILE_H_
#define MANAGER_CORE_READ_FILE_H_

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace mandate {

// Reads the whole file. A file that may hold a key or a token leaves no copy behind, as long as it
// does not grow meanwhile. kOutOfRange: it has more than `max_bytes`. Other errors are the
// system's.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes = size_t{64} << 20);

}  // namespace mandate

#endif  // MANAGER_CORE_READ_FILE_H_
