#include "manager/client/list_page.h"

#include <utility>
#include <vector>

#include "manager/client/media_type.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/object/api_error.h"

namespace mandate {

absl::StatusOr<RawList> ReadListPage(const CallContext& context, RestClient& rest,
                                     const KindInfo& kind, const ListSelection& selection,
                                     size_t page_size, std::string_view next) {
  std::vector<std::pair<std::string, std::string>> query;
  if (!selection.label_selector.empty()) {
    query.emplace_back("labelSelector", selection.label_selector);
  }
  if (!selection.field_selector.empty()) {
    query.emplace_back("fieldSelector", selection.field_selector);
  }
  if (page_size > 0) query.emplace_back("limit", StrCat(page_size));
  if (!next.empty()) query.emplace_back("continue", std::string(next));
  RestRequest request;
  request.method = "GET";
  request.target = ResourceTarget(kind, {selection.ns, ""}, "", query);
  request.accept = AcceptOf(kind);
  ASSIGN_OR_RETURN(const HttpResponse response, rest.Do(context, std::move(request)));
  return ParseList(response.body, EncodingOf(response));
}

absl::StatusOr<std::string> ForEachObject(
    const CallContext& context, RestClient& rest, const KindInfo& kind,
    const ForEachOptions& options,
    const std::function<absl::Status(const std::shared_ptr<const RawObject>&)>& each) {
  if (options.page_size == 0) {
    return absl::InvalidArgumentError(
        StrCat("ForEach of ", kind.plural, " has a page_size of 0; choose one above 0"));
  }
  const ListSelection selection = {.ns = options.ns,
                                   .label_selector = options.label_selector,
                                   .field_selector = options.field_selector};
  std::string next;
  int restarts = 0;
  while (true) {
    absl::StatusOr<RawList> page =
        ReadListPage(context, rest, kind, selection, options.page_size, next);
    if (!page.ok()) {
      const bool expired = IsGone(page.status()) && !next.empty();
      if (!expired || !options.on_restart || restarts++ >= options.max_restarts) {
        return std::move(page).status();
      }
      options.on_restart();
      next.clear();
      continue;
    }
    for (const auto& object : page->items) RETURN_IF_ERROR(each(object));
    if (page->continue_token.empty()) return std::move(page->resource_version);
    next = std::move(page->continue_token);
  }
}

}  // namespace mandate
