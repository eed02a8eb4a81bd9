#include "manager/object/watch_frame.h"

#include <string.h>

#include <algorithm>
#include <utility>

#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/envelope.h"
#include "manager/object/json_cursor.h"
#include "manager/object/object_header.h"
#include "manager/object/wire_cursor.h"

namespace mandate {
namespace {

using Token = JsonCursor::Token;

// The annotation of the bookmark that ends a WatchList's initial events (KEP-3157).
constexpr char kInitialEventsEnd[] = "k8s.io/initial-events-end";

// Fields of meta/v1 WatchEvent and of RawExtension.
constexpr uint32_t kType = 1;
constexpr uint32_t kObject = 2;
constexpr uint32_t kRaw = 1;

absl::StatusOr<WatchEventType> TypeOf(std::string_view type) {
  if (type == "ADDED") return WatchEventType::kAdded;
  if (type == "MODIFIED") return WatchEventType::kModified;
  if (type == "DELETED") return WatchEventType::kDeleted;
  if (type == "BOOKMARK") return WatchEventType::kBookmark;
  if (type == "ERROR") return WatchEventType::kError;
  if (type.empty()) return absl::InvalidArgumentError("type: missing in a watch event");
  return WatchEventType::kUnknown;
}

using ObjectPtr = std::shared_ptr<const RawObject>;

bool CarriesObject(WatchEventType type) {
  return type == WatchEventType::kAdded || type == WatchEventType::kModified ||
         type == WatchEventType::kDeleted;
}

// The memory that a splitter keeps while it waits.
constexpr size_t kKeptCapacity = size_t{256} << 10;

// The parts of a frame.
struct Frame {
  WatchEventType type = WatchEventType::kError;
  ObjectPtr object;      // set if the event carries an object
  std::string_view raw;  // set if the event does not
};

absl::StatusOr<Frame> ReadJson(std::string_view text) {
  Frame frame;
  std::optional<WatchEventType> type;
  JsonLimits limits;
  ++limits.max_depth;  // the event's own braces
  JsonCursor json(text, limits);
  std::string_view key;
  for (json.BeginObject(); json.NextMember(&key);) {
    if (key == "type" && json.Peek() == Token::kString) {
      std::string_view name;
      json.ReadString(&name);
      ASSIGN_OR_RETURN(type, TypeOf(name));
    } else if (key == "object" && type && CarriesObject(*type)) {
      // Servers write the type first, so the object is read once.
      ASSIGN_OR_RETURN(frame.object, ReadRawObject(json));
    } else if (key == "object") {
      json.SkipValue(&frame.raw);
    } else {
      json.SkipValue();
    }
  }
  RETURN_IF_ERROR(json.Finish());
  ASSIGN_OR_RETURN(frame.type, type ? *type : TypeOf(""));
  if (CarriesObject(frame.type) && frame.object == nullptr) {
    ASSIGN_OR_RETURN(frame.object, ParseRawObject(frame.raw, Encoding::kJson));
  }
  return frame;
}

absl::StatusOr<Frame> ReadProtobuf(std::string_view bytes) {
  Frame frame;
  std::string_view type;
  WireCursor event(bytes);
  while (event.Next()) {
    if (event.field() == kType) type = event.bytes();
    if (event.field() != kObject) continue;
    WireCursor object(event.bytes());
    while (object.Next()) {
      if (object.field() == kRaw) frame.raw = object.bytes();
    }
    RETURN_IF_ERROR(object.status());
  }
  RETURN_IF_ERROR(event.status());
  ASSIGN_OR_RETURN(frame.type, TypeOf(type));
  if (CarriesObject(frame.type)) {
    ASSIGN_OR_RETURN(frame.object, ParseRawObject(frame.raw, Encoding::kProtobuf));
  }
  return frame;
}

// A bookmark's object has a resourceVersion and no name.
absl::Status ReadBookmark(std::string_view object, Encoding encoding, WatchEvent* event) {
  if (encoding == Encoding::kProtobuf && HasEnvelope(object)) {
    ASSIGN_OR_RETURN(const Envelope envelope, ParseEnvelope(object));
    object = envelope.raw;
  }
  ASSIGN_OR_RETURN(const ObjectHeader header, ParseObjectHeader(object, encoding));
  if (header.resource_version.empty()) {
    return absl::InvalidArgumentError("metadata.resourceVersion: missing in a bookmark");
  }
  event->resource_version = header.resource_version;
  const auto end = header.annotations.find(kInitialEventsEnd);
  event->initial_events_end = end != header.annotations.end() && end->second == "true";
  return absl::OkStatus();
}

absl::Status ReadError(std::string_view object, Encoding encoding) {
  ApiStatusProto status;
  if (DecodeObject(object, encoding, status).ok() && status.code() != 0) {
    return StatusFromApi(status);
  }
  return StatusFromResponse(500, object);
}

}  // namespace

absl::StatusOr<WatchEvent> ParseWatchEvent(std::string_view bytes, Encoding encoding) {
  ASSIGN_OR_RETURN(Frame frame,
                   encoding == Encoding::kJson ? ReadJson(bytes) : ReadProtobuf(bytes));
  WatchEvent event;
  event.type = frame.type;
  if (frame.object != nullptr) {
    event.object = std::move(frame.object);
    event.resource_version = event.object->resource_version();
  } else if (event.type == WatchEventType::kBookmark) {
    RETURN_IF_ERROR(ReadBookmark(frame.raw, encoding, &event));
  } else if (event.type == WatchEventType::kError) {
    event.error = ReadError(frame.raw, encoding);
  }
  return event;
}

void FrameSplitter::Feed(std::string_view chunk) {
  // The frames that Next() returned become invalid. The buffer holds at most one frame and one
  // chunk.
  if (start_ > 0) {
    // The bytes that this moves to the front are still at the end, too, until the burst is over.
    dirty_ = std::max(dirty_, buffer_.size());
    buffer_.erase(0, start_);
    scanned_ -= start_;
    start_ = 0;
  }
  buffer_ += chunk;
}

void FrameSplitter::Clear() {
  if (buffer_.capacity() > kKeptCapacity) {
    std::string().swap(buffer_);  // an assignment keeps the capacity
  } else {
    if (dirty_ > buffer_.size()) buffer_.resize(dirty_);
    explicit_bzero(buffer_.data(), buffer_.size());
    buffer_.clear();
  }
  start_ = scanned_ = dirty_ = 0;
}

absl::Status FrameSplitter::TooLarge(size_t size) const {
  return absl::ResourceExhaustedError(
      StrCat("a watch event of ", size, " bytes or more is larger than the limit of ", max_frame_));
}

absl::StatusOr<std::optional<std::string_view>> FrameSplitter::Next() {
  // A burst is over: most watches are quiet, and need no large buffer. A kept one may hold the last
  // Secret for long.
  if (start_ == buffer_.size() && start_ > 0) Clear();
  return encoding_ == Encoding::kJson ? NextLine() : NextPrefixed();
}

absl::StatusOr<std::optional<std::string_view>> FrameSplitter::NextLine() {
  for (;;) {
    const size_t end = buffer_.find('\n', scanned_);
    searched_bytes_ += (end == std::string::npos ? buffer_.size() : end + 1) - scanned_;
    const size_t size = (end == std::string::npos ? buffer_.size() : end) - start_;
    if (size > max_frame_) return TooLarge(size);
    if (end == std::string::npos) {
      scanned_ = buffer_.size();
      return std::nullopt;
    }
    const std::string_view line(buffer_.data() + start_, size);
    start_ = scanned_ = end + 1;
    if (line.find_first_not_of(" \t\r") != std::string_view::npos) return line;
  }
}

absl::StatusOr<std::optional<std::string_view>> FrameSplitter::NextPrefixed() {
  constexpr size_t kPrefix = 4;
  for (;;) {
    const std::string_view rest = std::string_view(buffer_).substr(start_);
    if (rest.size() < kPrefix) return std::nullopt;
    size_t size = 0;
    for (char c : rest.substr(0, kPrefix)) size = size << 8 | static_cast<unsigned char>(c);
    if (size > max_frame_) return TooLarge(size);
    if (rest.size() < kPrefix + size) return std::nullopt;
    start_ = scanned_ = start_ + kPrefix + size;
    if (size > 0) return rest.substr(kPrefix, size);
  }
}

}  // namespace mandate
