// The checks that the API server makes on a webhook (Kubernetes' pkg/apis/admissionregistration/
// validation). Match conditions are not compiled, because only the server can do this.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manager/object/json.h"

namespace mandate::rbacgen {

// The mistakes of one webhook, whose fields must have the right types. Empty if it has none.
std::vector<std::string> CheckWebhook(const Json::Value& webhook);

// The mistakes of a clientConfig, and of an ordered list of review versions, which the messages
// call `what`.
std::vector<std::string> CheckClientConfig(const Json::Value& config);
std::vector<std::string> CheckReviewVersions(const Json::Value& versions, std::string_view what);

// The mistake in the name of a configuration; empty if the name is valid.
std::string CheckConfigurationName(const std::string& name);

}  // namespace mandate::rbacgen
