#include "rbacgen/audit/line_reader.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "absl/strings/str_cat.h"

namespace mandate::rbacgen {
namespace {

constexpr size_t kRead = size_t{256} << 10;

absl::Status ReadAll(int file, const std::string& path, size_t max_line, const LineSink& sink) {
  std::vector<char> buffer(max_line + kRead);
  size_t size = 0;
  bool skipping = false;  // within a line that is too long
  while (true) {
    const ssize_t n = read(file, buffer.data() + size, buffer.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) {
      return absl::UnavailableError(absl::StrCat("cannot read ", path, ": ", std::strerror(errno)));
    }
    if (n == 0) break;
    size += n;
    const char* at = buffer.data();
    const char* const end = buffer.data() + size;
    while (const void* feed = std::memchr(at, '\n', end - at)) {
      const char* const line_end = static_cast<const char*>(feed);
      const size_t length = line_end - at;
      if (skipping || length > max_line) {
        sink.too_long();
      } else {
        sink.line({at, length}, /*ended=*/true);
      }
      skipping = false;
      at = line_end + 1;
    }
    size = end - at;
    if (skipping || size > max_line) {
      skipping = true;
      size = 0;
    }
    std::memmove(buffer.data(), at, size);
  }
  if (skipping) {
    sink.too_long();
  } else if (size > 0) {
    sink.line({buffer.data(), size}, /*ended=*/false);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadLines(const std::string& path, size_t max_line, const LineSink& sink) {
  if (path == "-") return ReadAll(STDIN_FILENO, "standard input", max_line, sink);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return absl::NotFoundError(absl::StrCat("cannot open ", path, ": ", std::strerror(errno)));
  }
  absl::Status status = ReadAll(file, path, max_line, sink);
  close(file);
  return status;
}

}  // namespace mandate::rbacgen
