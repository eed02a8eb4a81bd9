// The body of a WATCH response: a stream of bytes, cut into frames, each one event.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/object/kind.h"
#include "manager/object/raw_object.h"

namespace mandate {

// kUnknown: a type that this version does not know. Its object is not read.
enum class WatchEventType { kAdded, kModified, kDeleted, kBookmark, kError, kUnknown };

struct WatchEvent {
  WatchEventType type = WatchEventType::kError;
  std::shared_ptr<const RawObject> object;  // of kAdded, kModified, kDeleted; else nullptr
  absl::Status error;                       // of kError, see api_error.h; else OK
  std::string resource_version;             // of all but kError and kUnknown
  bool initial_events_end = false;          // kBookmark that ends a WatchList's initial state
};

// kInvalidArgument when the frame is not an event, or its object is invalid.
absl::StatusOr<WatchEvent> ParseWatchEvent(std::string_view frame, Encoding encoding);

// Cuts a stream into frames: JSON by line, protobuf by a 4-byte big-endian length. Chunks may end
// anywhere. Blank lines are skipped.
//
//   splitter.Feed(chunk);
//   for (;;) { ASSIGN_OR_RETURN(auto frame, splitter.Next()); if (!frame) break; … }
//
// One thread only.
class FrameSplitter {
 public:
  static constexpr size_t kDefaultMaxFrame = size_t{8} << 20;

  explicit FrameSplitter(Encoding encoding, size_t max_frame_bytes = kDefaultMaxFrame)
      : encoding_(encoding), max_frame_(max_frame_bytes) {}

  void Feed(std::string_view chunk);

  // The next whole frame, valid until the next call of anything; nullopt until more is fed;
  // kResourceExhausted, for good, when a frame is larger than the bound.
  absl::StatusOr<std::optional<std::string_view>> Next();

  // Of JSON: how many bytes were searched for the end of a line, each once however it was cut.
  size_t searched_bytes() const { return searched_bytes_; }
  // How many bytes of memory the buffer takes.
  size_t buffer_bytes() const { return buffer_.capacity(); }

 private:
  absl::StatusOr<std::optional<std::string_view>> NextLine();
  absl::StatusOr<std::optional<std::string_view>> NextPrefixed();
  absl::Status TooLarge(size_t size) const;
  // Forgets the bytes, which were all handed out, and overwrites them.
  void Clear();

  const Encoding encoding_;
  const size_t max_frame_;
  std::string buffer_;
  size_t start_ = 0;    // of the first frame not handed out
  size_t scanned_ = 0;  // no line ends between start_ and here
  size_t dirty_ = 0;    // bytes of events may be up to here, if that is after the end
  size_t searched_bytes_ = 0;
};

}  // namespace mandate
