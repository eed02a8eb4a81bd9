// The content of a file.
#pragma once

#include <cstddef>
#include <string>

#include "absl/status/statusor.h"

namespace mandate {

// Reads the whole file. A file that may hold a key or a token leaves no copy behind, as long as it
// does not grow meanwhile. kOutOfRange: it has more than `max_bytes`. kInvalidArgument: it is a
// special file (see below). Other errors are the system's.
absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes = size_t{64} << 20);

// The two steps of ReadFile(), for callers that name the file in their own way: the messages are
// only reasons, without the path.

// Opens a file for reading; the caller closes it. Special files are rejected, because a read of one
// may block or never end. Exceptions are /dev/null, and names of descriptors that are open already,
// such as the /dev/fd/63 of the shell's <(…).
absl::StatusOr<int> OpenForReading(const std::string& path);
// Reads an open file to its end.
absl::StatusOr<std::string> ReadToEnd(int fd, size_t max_bytes);

// Whether the path names a descriptor of this process: /dev/stdin, /dev/fd/3, /proc/self/fd/3.
bool NamesDescriptor(const std::string& path);

}  // namespace mandate
