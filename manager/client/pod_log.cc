#include "manager/client/pod_log.h"

#include <utility>
#include <vector>

#include "manager/client/key_check.h"
#include "manager/client/stream_reader.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

constexpr KindInfo kPod = BuiltIn("", "Pod", "pods");

RestRequest Request(const ObjectKey& pod, const LogOptions& options) {
  std::vector<std::pair<std::string, std::string>> query;
  if (!options.container.empty()) query.emplace_back("container", options.container);
  if (options.follow) query.emplace_back("follow", "true");
  if (options.previous) query.emplace_back("previous", "true");
  if (options.timestamps) query.emplace_back("timestamps", "true");
  if (options.tail_lines.has_value()) query.emplace_back("tailLines", StrCat(*options.tail_lines));
  if (options.since.has_value()) {
    query.emplace_back("sinceSeconds", StrCat(absl::ToInt64Seconds(*options.since)));
  }
  if (options.limit_bytes.has_value()) {
    query.emplace_back("limitBytes", StrCat(*options.limit_bytes));
  }
  RestRequest request;
  request.method = "GET";
  request.target = ResourceTarget(kPod, pod, "log", query);
  request.accept = "application/json, */*";  // errors are JSON
  return request;
}

}  // namespace

absl::Status ReadPodLog(const CallContext& context, RestClient& rest, const ObjectKey& pod,
                        const LogOptions& options, const PodLogSink& sink) {
  RETURN_IF_ERROR(CheckKey(kPod, pod));
  return ReadStream(
      context, rest, Request(pod, options), options.max_buffered,
      [&sink](std::string_view /*content_type*/, std::string_view bytes) { return sink(bytes); });
}

}  // namespace mandate
