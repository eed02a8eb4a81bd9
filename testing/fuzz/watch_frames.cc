// Watch streams: the frames do not depend on how the bytes are cut into chunks; an event that can
// be read can be written, and then reads as the same.
//
// The first byte chooses the encoding and the bound, the second how the rest is cut.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "manager/core/strings.h"
#include "manager/object/watch_frame.h"
#include "manager/object/wire_cursor.h"
#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

struct Result {
  std::vector<std::string> frames;
  absl::StatusCode end = absl::StatusCode::kOk;

  bool operator==(const Result&) const = default;
};

// If `cut` is 0, feeds all bytes at once; otherwise `cut` is the seed of the chunks' sizes.
Result Split(std::string_view stream, Encoding encoding, size_t max_frame, unsigned cut) {
  Result result;
  FrameSplitter splitter(encoding, max_frame);
  while (true) {
    size_t size = stream.size();
    if (cut > 0) {
      cut = cut * 1103515245 + 12345;
      size = std::min(size, size_t{1} + (cut >> 16) % 7);
    }
    splitter.Feed(stream.substr(0, size));
    stream.remove_prefix(size);
    while (true) {
      const auto frame = splitter.Next();
      if (!frame.ok()) {
        result.end = frame.status().code();
        return result;
      }
      if (!frame->has_value()) break;
      result.frames.emplace_back(**frame);
      Require(result.frames.back().size() <= max_frame, "no frame is beyond the bound");
    }
    if (stream.empty()) break;
  }
  return result;
}

std::string_view TypeText(WatchEventType type) {
  switch (type) {
    case WatchEventType::kAdded:
      return "ADDED";
    case WatchEventType::kModified:
      return "MODIFIED";
    case WatchEventType::kDeleted:
      return "DELETED";
    case WatchEventType::kBookmark:
      return "BOOKMARK";
    case WatchEventType::kError:
      return "ERROR";
    case WatchEventType::kUnknown:
      break;
  }
  return "";
}

std::string Write(const WatchEvent& event, Encoding encoding) {
  const std::string_view type = TypeText(event.type);
  if (encoding == Encoding::kJson) {
    return StrCat(R"({"type":")", type, R"(","object":)", event.object->bytes(), "}");
  }
  std::string object;
  AppendWireBytes(1, event.object->bytes(), object);
  std::string frame;
  AppendWireBytes(1, type, frame);
  AppendWireBytes(2, object, frame);
  return frame;
}

void CheckEvent(std::string_view frame, Encoding encoding) {
  const auto event = ParseWatchEvent(frame, encoding);
  if (!event.ok()) {
    Require(event.status().code() != absl::StatusCode::kInternal, "an error of the input is no bug",
            event.status());
    return;
  }
  if (event->type == WatchEventType::kError) {
    Require(!event->error.ok(), "an error event has an error");
    return;
  }
  if (event->type == WatchEventType::kBookmark) {
    Require(event->object == nullptr && !event->resource_version.empty(),
            "a bookmark has a resourceVersion and no object");
    return;
  }
  if (event->type == WatchEventType::kUnknown) return;
  Require(event->object != nullptr, "an object event has an object");
  const auto again = ParseWatchEvent(Write(*event, encoding), encoding);
  Require(again.ok(), "what is written is read", again.status());
  Require(again->type == event->type && again->object->bytes() == event->object->bytes() &&
              again->resource_version == event->resource_version,
          "the event is the same again");
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate;
  using namespace mandate::fuzz;
  if (size < 2) return 0;
  const Encoding encoding = (data[0] & 1) != 0 ? Encoding::kProtobuf : Encoding::kJson;
  const size_t max_frame = (data[0] & 2) != 0 ? 24 : 1 << 16;
  const std::string_view stream = Text(data, size).substr(2);
  const Result whole = Split(stream, encoding, max_frame, 0);
  Require(whole == Split(stream, encoding, max_frame, 1u + data[1]),
          "chunks do not change the frames");
  for (const std::string& frame : whole.frames) CheckEvent(frame, encoding);
  return 0;
}
