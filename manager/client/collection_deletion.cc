#include "manager/client/collection_deletion.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "manager/client/media_type.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"
#include "manager/object/list_codec.h"

namespace mandate {
namespace {

constexpr char kPageSize[] = "500";
// The response lists the deleted objects. Their content is not needed.
constexpr char kAccept[] =
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,"
    "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

// The position that the error for an expired page has, from which the deletion may go on; "" if it
// has none.
std::string NextAfter(const absl::Status& error) {
  if (!IsGone(error)) return "";
  const std::optional<ApiStatusProto> status = ApiStatus(error);
  return status.has_value() ? status->metadata().continue_() : "";
}

}  // namespace

absl::StatusOr<size_t> DeleteCollection(const CallContext& context, RestClient& rest,
                                        const KindInfo& kind, const DeleteAllOfOptions& options) {
  if (kind.scope == Scope::kNamespaced && options.ns.empty()) {
    return absl::InvalidArgumentError(
        StrCat("DeleteAllOf of ", kind.plural,
               " has no namespace: an API server does not delete across namespaces, so call it for "
               "each namespace"));
  }
  std::vector<std::pair<std::string, std::string>> query;
  if (!options.label_selector.empty()) query.emplace_back("labelSelector", options.label_selector);
  if (!options.field_selector.empty()) query.emplace_back("fieldSelector", options.field_selector);
  query.emplace_back("limit", kPageSize);
  size_t deleted = 0;
  std::string next;
  bool expired = false;
  while (true) {
    auto page = query;
    if (!next.empty()) page.emplace_back("continue", next);
    RestRequest request;
    request.method = "DELETE";
    request.target = ResourceTarget(kind, {options.ns, ""}, "", page);
    request.body = DeleteBody({.propagation = options.propagation, .dry_run = options.dry_run});
    request.idempotent = options.dry_run;
    request.accept = kAccept;
    const absl::StatusOr<HttpResponse> response = rest.Do(context, std::move(request));
    if (!response.ok()) {
      const std::string after = next.empty() || expired ? "" : NextAfter(response.status());
      if (after.empty()) return response.status();
      next = after;
      expired = true;
      continue;
    }
    expired = false;
    absl::StatusOr<RawList> list = ParseList(response->body, EncodingOf(*response));
    if (!list.ok()) {
      return absl::InternalError(
          StrCat("the response to the deletion of ", kind.plural,
                 " is not a list, so some of them may remain: ", AsStd(list.status().message())));
    }
    deleted += list->items.size();
    if (list->continue_token.empty()) return deleted;
    next = std::move(list->continue_token);
  }
}

}  // namespace mandate
