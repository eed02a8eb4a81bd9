#include "manager/cache/watch_request.h"

#include <utility>
#include <vector>

#include "manager/core/strings.h"

namespace mandate {
namespace {

using Query = std::vector<std::pair<std::string, std::string>>;

RestRequest Request(const DemandSpec& spec, Query query, std::string accept) {
  // One object is watched by its name's field, to which RBAC rules with resourceNames apply.
  if (!spec.name.empty()) {
    query.emplace_back("fieldSelector", StrCat("metadata.name=", spec.name));
  }
  if (!spec.labels.empty()) query.emplace_back("labelSelector", spec.labels);
  return {.method = "GET",
          .target = ResourceTarget(spec.kind, {spec.ns, ""}, "", query),
          .body = "",
          .accept = std::move(accept)};
}

// The media types to accept, in this order. `parameters` are those of protobuf, and `what` is
// what the response is made of if only metadata is wanted.
std::string Accepted(const KindInfo& kind, Encoding encoding, std::string_view parameters,
                     std::string_view what) {
  const std::string partial =
      kind.metadata_only ? StrCat(";as=", what, ";g=meta.k8s.io;v=v1") : std::string();
  const std::string json = StrCat("application/json", partial);
  if (encoding == Encoding::kJson) return json;
  return StrCat("application/vnd.kubernetes.protobuf", parameters, partial, ",", json);
}

}  // namespace

RestRequest ListRequest(const DemandSpec& spec, Encoding encoding, const ListQuery& query) {
  Query parameters;
  if (query.limit > 0) parameters.emplace_back("limit", StrCat(query.limit));
  // The token says at which version the list is.
  if (!query.continue_token.empty()) parameters.emplace_back("continue", query.continue_token);
  return Request(spec, std::move(parameters),
                 Accepted(spec.kind, encoding, "", "PartialObjectMetadataList"));
}

RestRequest WatchRequest(const DemandSpec& spec, Encoding encoding, const WatchQuery& query) {
  Query parameters = {{"watch", "true"}, {"allowWatchBookmarks", "true"}};
  if (!query.resource_version.empty()) {
    parameters.emplace_back("resourceVersion", query.resource_version);
  }
  if (query.initial_events) {
    parameters.emplace_back("sendInitialEvents", "true");
    parameters.emplace_back("resourceVersionMatch", "NotOlderThan");
  }
  parameters.emplace_back("timeoutSeconds", StrCat(absl::ToInt64Seconds(query.timeout)));
  return Request(spec, std::move(parameters),
                 Accepted(spec.kind, encoding, ";stream=watch", "PartialObjectMetadata"));
}

Encoding EncodingOf(std::string_view content_type) {
  return content_type.starts_with("application/vnd.kubernetes.protobuf") ? Encoding::kProtobuf
                                                                         : Encoding::kJson;
}

}  // namespace mandate
