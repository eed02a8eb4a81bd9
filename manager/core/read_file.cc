#include "manager/core/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "manager/core/strings.h"

namespace mandate {
namespace {

absl::StatusOr<std::string> ReadAll(int fd, const std::string& path, size_t max_bytes) {
  struct stat info = {};
  if (fstat(fd, &info) != 0) return absl::ErrnoToStatus(errno, "cannot read " + path);
  std::string content;
  size_t used = 0;
  // The buffer has one byte more than the file, to detect the end. A file in /proc has the size 0.
  size_t size = static_cast<size_t>(info.st_size) + 1;
  while (true) {
    content.resize(std::min(std::max<size_t>(size, 4096), max_bytes + 1));
    const ssize_t n = read(fd, content.data() + used, content.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return absl::ErrnoToStatus(errno, "cannot read " + path);
    if (n == 0) break;
    used += static_cast<size_t>(n);
    if (used > max_bytes) {
      return absl::OutOfRangeError(StrCat(path, " has more than ", max_bytes, " bytes"));
    }
    if (used == content.size()) size = 2 * used;
  }
  content.resize(used);
  return content;
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return absl::ErrnoToStatus(errno, "cannot open " + path);
  absl::StatusOr<std::string> content = ReadAll(fd, path, max_bytes);
  close(fd);
  return content;
}

}  // namespace mandate
