// AdmissionReview v1: what a webhook is asked, and what its answer says.
#ifndef TESTING_APISERVER_ACCESS_ADMISSION_REVIEW_H_
#define TESTING_APISERVER_ACCESS_ADMISSION_REVIEW_H_

#include <jsoncpp/json/json.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "testing/apiserver/access/webhook.h"
#include "testing/apiserver/plugin.h"

namespace mandate::apiserver {

// What came back from a webhook.
struct WebhookReply {
  int code = 200;
  std::string body;
};

struct Verdict {
  bool allowed = false;
  Json::Value status;  // why not; null when it does not say
  Json::Value patch;   // a list of operations; null: none
  std::string patch_type;
  std::vector<std::string> warnings;
  std::map<std::string, std::string> annotations;
};

// `object`: as it is by now.
std::string AdmissionReviewBody(std::string_view uid, const WriteAttributes& write,
                                const Json::Value& object);

// The error is what the server adds to 'failed calling webhook "x": '.
absl::StatusOr<Verdict> ReadVerdict(const WebhookReply& reply, std::string_view uid,
                                    WebhookKind kind);

// The error with which the request is refused.
absl::Status Denied(std::string_view webhook, const Verdict& verdict);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_ADMISSION_REVIEW_H_
