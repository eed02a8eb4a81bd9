// Webhooks over HTTPS, for a server that is not simulated.
#ifndef TESTING_APISERVER_ACCESS_CURL_WEBHOOK_CALLER_H_
#define TESTING_APISERVER_ACCESS_CURL_WEBHOOK_CALLER_H_

#include "manager/core/executor.h"
#include "testing/apiserver/access/webhook_caller.h"

namespace mandate::apiserver {

// Calls from threads of its own, four at most, and answers on the loop, which outlives the caller
// and its copies. The last copy to go gives up the calls that are under way. A service is reached
// only if its name resolves.
WebhookCaller CurlWebhookCaller(Loop& loop);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_CURL_WEBHOOK_CALLER_H_
