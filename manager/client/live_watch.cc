#include "manager/client/live_watch.h"

#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "manager/client/stream_reader.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

// Shorter than the time that a connection without new requests lasts (HttpOptions::drain_timeout).
constexpr char kTimeoutSeconds[] = "540";
constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

RestRequest Request(const KindInfo& kind, const LiveWatchOptions& options) {
  std::vector<std::pair<std::string, std::string>> query = {
      {"watch", "true"}, {"allowWatchBookmarks", "true"}, {"timeoutSeconds", kTimeoutSeconds}};
  if (!options.label_selector.empty()) query.emplace_back("labelSelector", options.label_selector);
  if (!options.field_selector.empty()) query.emplace_back("fieldSelector", options.field_selector);
  if (!options.resource_version.empty()) {
    query.emplace_back("resourceVersion", options.resource_version);
  }
  RestRequest request;
  request.method = "GET";
  request.target = ResourceTarget(kind, {options.ns, ""}, "", query);
  request.accept = kind.encoding == Encoding::kProtobuf
                       ? StrCat(kProtobuf, ";stream=watch,application/json")
                       : "application/json";
  return request;
}

absl::Status Handle(std::string_view frame, Encoding encoding,
                    const std::function<absl::Status(const WatchEvent&)>& each) {
  ASSIGN_OR_RETURN(const WatchEvent event, ParseWatchEvent(frame, encoding));
  if (event.type == WatchEventType::kError) return event.error;
  if (event.type == WatchEventType::kUnknown) return absl::OkStatus();
  return each(event);
}

}  // namespace

absl::Status ReadLiveWatch(const CallContext& context, RestClient& rest, const KindInfo& kind,
                           const LiveWatchOptions& options,
                           const std::function<absl::Status(const WatchEvent&)>& each) {
  Encoding encoding = Encoding::kJson;
  std::optional<FrameSplitter> splitter;
  const auto read = [&](std::string_view content_type, std::string_view bytes) -> absl::Status {
    if (!splitter.has_value()) {
      if (content_type.starts_with(kProtobuf)) encoding = Encoding::kProtobuf;
      splitter.emplace(encoding);
    }
    splitter->Feed(bytes);
    while (true) {
      ASSIGN_OR_RETURN(const std::optional<std::string_view> frame, splitter->Next());
      if (!frame.has_value()) return absl::OkStatus();
      RETURN_IF_ERROR(Handle(*frame, encoding, each));
    }
  };
  return ReadStream(context, rest, Request(kind, options), options.max_buffered, read);
}

}  // namespace mandate
