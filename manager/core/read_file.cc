#include "manager/core/read_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "absl/cleanup/cleanup.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

absl::Status Reason(int error) {
  return absl::Status(absl::ErrnoToStatusCode(error), std::strerror(error));
}

bool IsNull(const struct stat& info) {
  return S_ISCHR(info.st_mode) && info.st_rdev == makedev(1, 3);
}

// OK for a folder: read(2) has the better message.
absl::Status CheckKind(const struct stat& info) {
  if (S_ISREG(info.st_mode) || S_ISDIR(info.st_mode) || IsNull(info)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      StrCat(S_ISFIFO(info.st_mode) ? "it is a FIFO" : "it is a device",
             "; use a regular file, or use the shell's <(…)"));
}

absl::Status Prefixed(std::string_view prefix, const absl::Status& status) {
  return absl::Status(status.code(), StrCat(prefix, AsStd(status.message())));
}

}  // namespace

bool NamesDescriptor(const std::string& path) {
  return path == "/dev/stdin" || path == "/dev/stdout" || path == "/dev/stderr" ||
         path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/");
}

absl::StatusOr<int> OpenForReading(const std::string& path) {
  // O_NONBLOCK: opening a FIFO would wait for a writer.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return Reason(errno);
  absl::Cleanup close_it = [&] { close(fd); };
  struct stat info = {};
  if (fstat(fd, &info) != 0) return Reason(errno);
  if (!NamesDescriptor(path)) RETURN_IF_ERROR(CheckKind(info));
  if (fcntl(fd, F_SETFL, O_RDONLY) != 0) return Reason(errno);
  std::move(close_it).Cancel();
  return fd;
}

absl::StatusOr<std::string> ReadToEnd(int fd, size_t max_bytes) {
  const absl::Status too_long =
      absl::OutOfRangeError(StrCat("it has more than ", max_bytes, " bytes"));
  struct stat info = {};
  if (fstat(fd, &info) != 0) return Reason(errno);
  if (S_ISREG(info.st_mode) && static_cast<size_t>(info.st_size) > max_bytes) return too_long;
  std::string content;
  size_t used = 0;
  // The buffer has one byte more than the file, to detect the end. A file in /proc has the size 0.
  size_t size = static_cast<size_t>(info.st_size) + 1;
  while (true) {
    content.resize(std::min(std::max<size_t>(size, 4096), max_bytes + 1));
    const ssize_t n = read(fd, content.data() + used, content.size() - used);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return Reason(errno);
    if (n == 0) break;
    used += static_cast<size_t>(n);
    if (used > max_bytes) return too_long;
    if (used == content.size()) size = 2 * used;
  }
  content.resize(used);
  return content;
}

absl::StatusOr<std::string> ReadFile(const std::string& path, size_t max_bytes) {
  const absl::StatusOr<int> fd = OpenForReading(path);
  if (!fd.ok()) return Prefixed(StrCat("cannot open ", path, ": "), fd.status());
  absl::StatusOr<std::string> content = ReadToEnd(*fd, max_bytes);
  close(*fd);
  if (!content.ok()) return Prefixed(StrCat("cannot read ", path, ": "), content.status());
  return content;
}

}  // namespace mandate
