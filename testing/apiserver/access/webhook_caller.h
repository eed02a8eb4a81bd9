// How a webhook is reached.
#ifndef TESTING_APISERVER_ACCESS_WEBHOOK_CALLER_H_
#define TESTING_APISERVER_ACCESS_WEBHOOK_CALLER_H_

#include <functional>
#include <string>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "testing/apiserver/access/admission_review.h"

namespace mandate::apiserver {

// A POST of JSON.
struct WebhookCall {
  std::string url;  // with the timeout as a parameter
  std::string ca_pem;
  std::string body;
  absl::Duration timeout;
};

// Answers on the loop, once, at once or later. A test may answer in process.
using WebhookCaller = std::function<void(
    WebhookCall call, absl::AnyInvocable<void(absl::StatusOr<WebhookReply>) &&> done)>;

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_WEBHOOK_CALLER_H_
