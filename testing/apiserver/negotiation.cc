#include "testing/apiserver/negotiation.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "manager/core/strings.h"
#include "testing/apiserver/errors.h"

namespace mandate::apiserver {
namespace {

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kProtobuf = "application/vnd.kubernetes.protobuf";

std::string_view Trim(std::string_view text) {
  return AsStd(absl::StripAsciiWhitespace(AsAbsl(text)));
}

// Returns the part before `separator`, and removes both.
std::string_view Take(std::string_view& rest, char separator) {
  const std::string_view part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  return Trim(part);
}

enum class Partial { kOne, kList };

struct Range {
  std::string type;
  double quality = 1;
  bool transformed = false;              // as=Table and the like
  std::optional<Partial> metadata = {};  // as=PartialObjectMetadata, as=PartialObjectMetadataList
};

std::vector<Range> ParseAccept(std::string_view accept) {
  std::vector<Range> ranges;
  while (!accept.empty()) {
    std::string_view rest = Take(accept, ',');
    Range range{.type = absl::AsciiStrToLower(AsAbsl(Take(rest, ';')))};
    while (!rest.empty()) {
      const std::string_view parameter = Take(rest, ';');
      if (parameter.starts_with("as=")) range.transformed = true;
      if (parameter == "as=PartialObjectMetadata") range.metadata = Partial::kOne;
      if (parameter == "as=PartialObjectMetadataList") range.metadata = Partial::kList;
      if (parameter.starts_with("q=") &&
          !absl::SimpleAtod(AsAbsl(parameter.substr(2)), &range.quality)) {
        range.quality = 0;
      }
    }
    if (range.quality > 0) ranges.push_back(range);
  }
  std::stable_sort(ranges.begin(), ranges.end(),
                   [](const Range& a, const Range& b) { return a.quality > b.quality; });
  return ranges;
}

// The types in the server's message. The double does not support YAML.
std::string Types(bool protobuf) {
  return StrCat("application/json, application/yaml",
                protobuf ? ", application/vnd.kubernetes.protobuf" : "");
}

absl::Status OnlyAccepts() {
  return ApiErrorOf(406, "NotAcceptable",
                    StrCat("only the following media types are accepted: ", Types(true)));
}

}  // namespace

std::string_view MediaType(Encoding encoding) {
  return encoding == Encoding::kProtobuf ? kProtobuf : kJson;
}

std::string_view WatchMediaType(Encoding encoding) {
  return encoding == Encoding::kProtobuf ? "application/vnd.kubernetes.protobuf;stream=watch"
                                         : kJson;
}

std::optional<Encoding> AcceptedEncoding(const Request& request, bool protobuf) {
  const auto accept = request.Header("accept");
  if (!accept || Trim(*accept).empty()) return Encoding::kJson;
  for (const Range& range : ParseAccept(*accept)) {
    if (range.transformed) continue;
    if (range.type == kJson || range.type == "*/*") {
      return Encoding::kJson;
    }
    if (range.type == kProtobuf && protobuf) return Encoding::kProtobuf;
  }
  return std::nullopt;
}

absl::StatusOr<std::optional<Encoding>> AcceptedMetadata(const Request& request) {
  const std::vector<Range> ranges = ParseAccept(request.Header("accept").value_or(""));
  if (ranges.empty() || !ranges[0].metadata.has_value()) return std::nullopt;
  const std::string& verb = request.attributes.verb;
  const bool is_list = verb == "list" || verb == "deletecollection";
  if (is_list != (*ranges[0].metadata == Partial::kList)) {
    return ApiErrorOf(
        406, "NotAcceptable",
        is_list ? "you requested PartialObjectMetadata, but the requested object is a list"
                : "you requested PartialObjectMetadataList, but the requested object "
                  "is not a list");
  }
  if (ranges[0].type == kJson) return Encoding::kJson;
  if (ranges[0].type == kProtobuf) return Encoding::kProtobuf;
  return std::nullopt;
}

bool TakesJson(const Request& request) {
  const auto accept = request.Header("accept");
  if (!accept || Trim(*accept).empty()) return true;
  const std::vector<Range> ranges = ParseAccept(*accept);
  return std::any_of(ranges.begin(), ranges.end(),
                     [](const Range& range) { return range.type == kJson || range.type == "*/*"; });
}

absl::StatusOr<Encoding> BodyEncoding(const Request& request, bool protobuf) {
  std::string_view type = request.Header("content-type").value_or("");
  const std::string wanted = absl::AsciiStrToLower(AsAbsl(Take(type, ';')));
  if (wanted.empty() || wanted == kJson) return Encoding::kJson;
  if (wanted == kProtobuf && protobuf) return Encoding::kProtobuf;
  // kube-apiserver usually panics here.
  if (wanted == kProtobuf) return Unsupported("protobuf bodies of custom resources");
  if (wanted == "application/yaml") return Unsupported("bodies in YAML");
  return UnsupportedMediaType(Types(true));
}

absl::Status NotAcceptable(const Request& request, bool builtin) {
  for (const Range& range : ParseAccept(request.Header("accept").value_or(""))) {
    if (range.transformed && range.type == kJson)
      return Unsupported("answers as tables and the like");
    if (range.type == "application/yaml") return Unsupported("answers in YAML");
  }
  if (!builtin) return OnlyAccepts();
  const std::string& verb = request.attributes.verb;
  const bool list = request.method == "GET" && (verb == "list" || verb == "watch");
  return NotAcceptableError(Types(true) + (list ? ", application/json;stream=watch, "
                                                  "application/vnd.kubernetes.protobuf;stream=watch"
                                                : ""));
}

absl::Status NotAcceptableDiscovery(const Request& request, bool routed) {
  for (const Range& range : ParseAccept(request.Header("accept").value_or(""))) {
    if (range.type == kJson || range.type == kProtobuf) return OnlyAccepts();
    if (range.type == "application/yaml") return Unsupported("answers in YAML");
  }
  return routed ? NotAcceptableError(Types(true)) : OnlyAccepts();
}

}  // namespace mandate::apiserver
