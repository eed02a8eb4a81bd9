#include "manager/telemetry/endpoints.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <set>
#include <utility>

namespace mandate {
namespace {

ServedResponse Served(HealthAnswer answer) {
  ServedResponse response;
  response.code = answer.code;
  response.body = std::move(answer.text);
  return response;
}

std::set<std::string> SplitByCommas(const std::string& text) {
  std::set<std::string> parts;
  for (size_t start = 0; start <= text.size();) {
    const size_t end = std::min(text.find(',', start), text.size());
    if (end > start) parts.insert(text.substr(start, end - start));
    start = end + 1;
  }
  return parts;
}

}  // namespace

void AddHealthEndpoints(const HealthChecks& checks, const std::string& path,
                        std::map<std::string, ServeHandler>& handlers) {
  handlers[path] = [&checks, endpoint = path.substr(1)](const ServedRequest& request) {
    const auto exclude = request.query.find("exclude");
    return Served(AnswerHealth(
        checks, endpoint, request.query.contains("verbose"),
        exclude == request.query.end() ? std::set<std::string>() : SplitByCommas(exclude->second)));
  };
  handlers[path + "/"] = [&checks, prefix = path.size() + 1](const ServedRequest& request) {
    return Served(AnswerHealthOf(checks, std::string(request.path.substr(prefix))));
  };
}

void AddMetricsEndpoint(const Metrics& metrics, ProcessMetrics& process,
                        std::map<std::string, ServeHandler>& handlers) {
  handlers["/metrics"] = [&metrics, &process](const ServedRequest&) {
    process.Update();
    ServedResponse response;
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    response.body = prometheus::TextSerializer().Serialize(metrics.registry().Collect());
    return response;
  };
}

}  // namespace mandate
