#include "manager/telemetry/endpoints.h"

#include <prometheus/text_serializer.h>

#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

ServedResponse Text(int code, std::string text) { return {.code = code, .body = std::move(text)}; }

std::string AsLines(absl::string_view text) {
  return StrCat(AsStd(text), absl::EndsWith(text, "\n") ? "" : "\n");
}

// The answer for "/readyz", in the format of Kubernetes' own components. With `verbose`, or if a
// check fails, it has a line for each check. Only a verbose answer has reasons and warnings.
ServedResponse AnswerHealth(const HealthChecks& checks, std::string_view endpoint, bool verbose,
                            const std::set<std::string>& exclude) {
  std::string lines;
  bool healthy = true;
  std::set<std::string> unmatched = exclude;
  for (const HealthChecks::Result& result : checks.Run(exclude)) {
    if (result.excluded) {
      unmatched.erase(result.name);
      StrAppend(&lines, "[+]", result.name, " excluded: ok\n");
    } else if (result.status.ok()) {
      StrAppend(&lines, "[+]", result.name, " ok\n");
    } else {
      healthy = false;
      // A manifest in the reason is not escaped, so that it can be pasted.
      StrAppend(&lines, "[-]", result.name,
                " failed: ", verbose ? AsLines(result.status.message()) : "reason withheld\n");
    }
  }
  for (const std::string& name : unmatched) {
    StrAppend(&lines, "warn: some health checks cannot be excluded: no matches for \"", name,
              "\"\n");
  }
  if (verbose) {
    for (const std::string& warning : checks.Warnings()) {
      StrAppend(&lines, "warn: ", AsLines(warning));
    }
  }
  if (!healthy) return Text(500, StrCat(lines, endpoint, " check failed\n"));
  if (!verbose) return Text(200, "ok");
  return Text(200, StrCat(lines, endpoint, " check passed\n"));
}

// The answer for "/readyz/NAME".
ServedResponse AnswerHealthOf(const HealthChecks& checks, const std::string& name) {
  const std::optional<absl::Status> status = checks.RunOne(name);
  if (!status.has_value()) return Text(404, StrCat("no check is named \"", name, "\"\n"));
  if (status->ok()) return Text(200, "ok");
  return Text(500, StrCat("internal server error: ", AsLines(status->message())));
}

}  // namespace

void AddHealthEndpoints(const HealthChecks& checks, const std::string& path,
                        std::map<std::string, ServeHandler>& handlers) {
  handlers[path] = [&checks, endpoint = path.substr(1)](const ServedRequest& request) {
    std::set<std::string> exclude;
    if (const auto names = request.query.find("exclude"); names != request.query.end()) {
      exclude = absl::StrSplit(names->second, ',', absl::SkipEmpty());
    }
    return AnswerHealth(checks, endpoint, request.query.contains("verbose"), exclude);
  };
  handlers[path + "/"] = [&checks, prefix = path.size() + 1](const ServedRequest& request) {
    return AnswerHealthOf(checks, std::string(request.path.substr(prefix)));
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
