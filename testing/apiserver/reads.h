// GET of an object and of a list.
#ifndef TESTING_APISERVER_READS_H_
#define TESTING_APISERVER_READS_H_

#include <memory>

#include "testing/apiserver/core.h"
#include "testing/apiserver/exchange.h"
#include "testing/apiserver/list_query.h"

namespace mandate::apiserver {

// Answer, at once or, for a resourceVersion that is yet to come, within Core::watch.fresh_wait.
// `core` outlives the exchange.
void AnswerGet(Core& core, std::shared_ptr<Exchange> exchange,
               std::shared_ptr<const ResourceType> type, Encoding answer);
void AnswerList(Core& core, std::shared_ptr<Exchange> exchange,
                std::shared_ptr<const ResourceType> type, ListQuery query, Encoding answer);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_READS_H_
