#include "rbacgen/audit/log_bytes.h"

#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "manager/core/read_file.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate::rbacgen {
namespace {

constexpr size_t kRead = size_t{256} << 10;

// The first bytes of other compressed formats, and the commands that unpack them.
constexpr struct {
  std::string_view magic, unpacker;
} kOthers[] = {{"\x28\xb5\x2f\xfd", "zstd -dc"},
               {"BZh", "bzip2 -dc"},
               {"\xfd"
                "7zXZ",
                "xz -dc"}};

absl::Status CheckPlain(std::string_view start, const std::string& name) {
  for (const auto& [magic, unpacker] : kOthers) {
    if (!start.starts_with(magic)) continue;
    return absl::UnavailableError(StrCat("cannot read ", name,
                                         ": the only supported compression is gzip; ",
                                         "pipe the output of `", unpacker, "` to LOG -"));
  }
  return absl::OkStatus();
}

class Inflater {
 public:
  Inflater() : out_(kRead) {
    constexpr int kGzipOnly = 16;
    ready_ = inflateInit2(&stream_, MAX_WBITS + kGzipOnly) == Z_OK;
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Returns false if the data is not gzip.
  bool Add(std::string_view packed, const std::function<void(std::string_view)>& chunk) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
    stream_.avail_in = static_cast<uInt>(packed.size());
    while (ready_ && stream_.avail_in > 0) {
      if (ended_ && inflateReset(&stream_) != Z_OK) return false;
      ended_ = false;
      int result = Z_OK;
      do {
        stream_.next_out = reinterpret_cast<Bytef*>(out_.data());
        stream_.avail_out = static_cast<uInt>(out_.size());
        result = inflate(&stream_, Z_NO_FLUSH);
        if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR) return false;
        chunk({out_.data(), out_.size() - stream_.avail_out});
      } while (result == Z_OK && stream_.avail_out == 0);
      ended_ = result == Z_STREAM_END;
    }
    return ready_;
  }
  bool ended() const { return ended_; }

 private:
  z_stream stream_ = {};
  std::vector<char> out_;
  bool ready_ = false;
  bool ended_ = false;
};

// Like read(2), but continues after a signal, until the buffer is full or the file ends.
ssize_t Fill(int file, char* buffer, size_t size) {
  size_t filled = 0;
  while (filled < size) {
    const ssize_t n = read(file, buffer + filled, size - filled);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return n;
    if (n == 0) break;
    filled += n;
  }
  return static_cast<ssize_t>(filled);
}

absl::Status ReadAll(int file, const std::string& name,
                     const std::function<void(std::string_view)>& chunk) {
  std::vector<char> buffer(kRead);
  Inflater inflater;
  bool packed = false;
  for (bool first = true;; first = false) {
    const ssize_t n = Fill(file, buffer.data(), buffer.size());
    if (n < 0) {
      return absl::UnavailableError(StrCat("cannot read ", name, ": ", std::strerror(errno)));
    }
    const std::string_view bytes(buffer.data(), n);
    if (first) {
      packed = bytes.starts_with("\x1f\x8b");
      RETURN_IF_ERROR(CheckPlain(bytes, name));
    }
    if (n == 0) break;
    if (!packed) {
      chunk(bytes);
    } else if (!inflater.Add(bytes, chunk)) {
      return absl::UnavailableError(StrCat("cannot decompress ", name, ": the file is damaged"));
    }
  }
  if (packed && !inflater.ended()) {
    return absl::UnavailableError(StrCat("cannot decompress ", name, ": the file is truncated"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadLogBytes(const std::string& path,
                          const std::function<void(std::string_view)>& chunk) {
  if (path == "-") return ReadAll(STDIN_FILENO, "standard input", chunk);
  const absl::StatusOr<int> file = OpenForReading(path);
  if (!file.ok()) {
    return absl::NotFoundError(StrCat("cannot open ", path, ": ", AsStd(file.status().message())));
  }
  absl::Status status = ReadAll(*file, path, chunk);
  close(*file);
  return status;
}

}  // namespace mandate::rbacgen
