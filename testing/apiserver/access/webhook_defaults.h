// What the API server fills in where a webhook's configuration leaves it out.
#ifndef TESTING_APISERVER_ACCESS_WEBHOOK_DEFAULTS_H_
#define TESTING_APISERVER_ACCESS_WEBHOOK_DEFAULTS_H_

#include <jsoncpp/json/json.h>

#include <string_view>

namespace mandate::apiserver {

// Leaves objects of other resources alone.
void DefaultWebhooks(std::string_view resource, Json::Value& object);

}  // namespace mandate::apiserver

#endif  // TESTING_APISERVER_ACCESS_WEBHOOK_DEFAULTS_H_
