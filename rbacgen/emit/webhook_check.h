// The checks that the API server makes on a webhook (Kubernetes' pkg/apis/admissionregistration/
// validation), except for match conditions, which only the server can compile.
#ifndef RBACGEN_EMIT_WEBHOOK_CHECK_H_
#define RBACGEN_EMIT_WEBHOOK_CHECK_H_

#include <string>
#include <string_view>
#include <vector>

#include "manager/object/json.h"

namespace mandate::rbacgen {

// The mistakes of one webhook, whose fields are of the right types. Empty if there are none.
std::vector<std::string> CheckWebhook(const Json::Value& webhook);

// Of its clientConfig, and of an ordered list of versions of the review, which an error calls so.
std::vector<std::string> CheckClientConfig(const Json::Value& config);
std::vector<std::string> CheckReviewVersions(const Json::Value& versions, std::string_view what);

// The mistake in the name of a configuration; empty if it is valid.
std::string CheckConfigurationName(const std::string& name);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_WEBHOOK_CHECK_H_
