// GET of an object and of a list.
#ifndef TESTING_APISERVER_READS_H_
#define TESTING_APISERVER_READS_H_

#include <memory>
#include <vector>

#include "testing/apiserver/core.h"
#include "testing/apiserver/exchange.h"
#include "testing/apiserver/list_query.h"
#include "testing/apiserver/object_io.h"

namespace mandate::apiserver {

using Objects = std::vector<std::shared_ptr<const StoredObject>>;

// The objects of `all`, which are in the order of their names, that a list of `query` brings; says
// in `list`, whose revision is set, how it goes on.
Objects TakePage(const Objects& all, const ListQuery& query, ListMeta& list);

// Answer, at once or, for a resourceVersion that is yet to come, within Core::watch.fresh_wait.
// `core` outlives the exchange.
void AnswerGet(Core& core, std::shared_ptr<Exchange> exchange,
               std::shared_ptr<const ResourceType> type, Encoding answer);
void AnswerList(Core& core, std::shared_ptr<Exchange> exchange,
                std::shared_ptr<const ResourceType> type, ListQuery query, Encoding answer);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_READS_H_
