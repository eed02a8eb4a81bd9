// Lists page by page.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"
#include "manager/object/kind.h"
#include "manager/object/list_codec.h"
#include "manager/object/raw_object.h"

namespace mandate {

// Selects the objects of a list.
struct ListSelection {
  std::string ns = {};  // empty: all namespaces, or a cluster-scoped kind
  std::string label_selector = {};
  std::string field_selector = {};
};

// The page that begins at `next`, the continue token of the page before; "": the first page. A
// `page_size` of 0 has no limit. Errors are RestClient's (410 when the token has expired), and
// kInvalidArgument for a response that is not a list. Blocks the calling thread: not on the loop.
absl::StatusOr<RawList> ReadListPage(const CallContext& context, RestClient& rest,
                                     const KindInfo& kind, const ListSelection& selection,
                                     size_t page_size, std::string_view next);

struct ForEachOptions {
  std::string ns = {};  // empty: all namespaces, or a cluster-scoped kind
  std::string label_selector = {};
  std::string field_selector = {};
  // The number of objects in one response, which the client holds in memory.
  size_t page_size = 500;
  // All pages show the state at the first one, which the API server keeps for five minutes or more.
  // When it has dropped that state, the next page is a 410. Then, if `on_restart` is set, ForEach
  // calls it and begins again: `fn` gets all objects again, as they are now. If it is not set, and
  // after `max_restarts`, the 410 is the error (IsGone()), and `fn` has got some of the objects.
  std::function<void()> on_restart = {};
  int max_restarts = 3;
};

// Calls `each` with one object after the other, on the calling thread, and returns the list's
// resourceVersion. An error of `each` ends the list and is its result. Holds one page at a time.
// Errors are ReadListPage's, and kInvalidArgument for a page_size of 0.
absl::StatusOr<std::string> ForEachObject(
    const CallContext& context, RestClient& rest, const KindInfo& kind,
    const ForEachOptions& options,
    const std::function<absl::Status(const std::shared_ptr<const RawObject>&)>& each);

}  // namespace mandate
