// GET of an object and of a list.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "testing/apiserver/core.h"
#include "testing/apiserver/exchange.h"
#include "testing/apiserver/list_query.h"
#include "testing/apiserver/object_io.h"

namespace mandate::apiserver {

using Objects = std::vector<std::shared_ptr<const StoredObject>>;

// Selects the page of `query` from `all`, which is sorted by name. Sets the continue token in
// `list`, whose revision is already set.
Objects TakePage(const Objects& all, const ListQuery& query, ListMeta& list);

// The objects before the first page of `continuation`'s list, of `ns` or of all namespaces. The
// error is a 410 with a token that goes on at the present, if this state has been dropped.
absl::StatusOr<Objects> ObjectsAt(const Core& core, const ResourceType& type, std::string_view ns,
                                  const Continuation& continuation);

// These functions respond at once, or for a future resourceVersion within Core::watch.fresh_wait.
// `core` outlives the exchange.
void AnswerGet(Core& core, std::shared_ptr<Exchange> exchange,
               std::shared_ptr<const ResourceType> type, Encoding answer);
void AnswerList(Core& core, std::shared_ptr<Exchange> exchange,
                std::shared_ptr<const ResourceType> type, ListQuery query, Encoding answer);

}  // namespace mandate::apiserver
