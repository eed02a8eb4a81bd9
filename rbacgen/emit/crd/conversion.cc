#include "rbacgen/emit/crd/conversion.h"

#include <string>
#include <utility>

#include "manager/core/strings.h"
#include "manager/object/json.h"
#include "rbacgen/emit/webhook_check.h"
#include "rbacgen/markers/text.h"
#include "rbacgen/yaml/json_yaml.h"

namespace mandate::rbacgen {
namespace {

using mandate::api::Conversion;

// The clientConfig, as the API server has it. A missing namespace of the service may come from the
// command line.
Json::Value ClientConfig(const Conversion& conversion, bool namespace_is_known) {
  Json::Value config;
  if (conversion.has_url()) config["url"] = conversion.url();
  if (!conversion.has_servicename() && !conversion.has_servicenamespace() &&
      !conversion.has_servicepath() && !conversion.has_serviceport()) {
    return config;
  }
  Json::Value& service = config["service"];
  service["name"] = conversion.servicename();
  service["namespace"] = namespace_is_known && !conversion.has_servicenamespace()
                             ? "said-elsewhere"
                             : conversion.servicenamespace();
  service["path"] = conversion.has_servicepath() ? conversion.servicepath() : "/convert";
  if (conversion.has_serviceport()) service["port"] = conversion.serviceport();
  return config;
}

}  // namespace

Yaml ConversionYaml(const ResourceVersion& stored, const YamlOptions& options,
                    Diagnostics* diagnostics) {
  if (!stored.resource.has_conversion()) return {};
  const Conversion& conversion = stored.resource.conversion();
  const auto error = [&](const auto&... parts) {
    diagnostics->Error(stored.place, StrCat(stored.kind, ": conversion: ", parts...));
  };
  const Json::Value config = ClientConfig(conversion, !options.service_namespace.IsNull());
  if (conversion.strategy() == "None") {
    if (!config.isNull() || conversion.conversionreviewversions_size() > 0) {
      error("strategy None does not call a webhook: remove the webhook, or set strategy Webhook");
    }
    return Yaml::Map{{"strategy", "None"}};
  }
  if (conversion.strategy() != "Webhook") {
    error("strategy ", Quoted(conversion.strategy()), " must be one of None, Webhook");
    return {};
  }
  for (const std::string& mistake : CheckClientConfig(config)) error(mistake);
  Json::Value versions(Json::arrayValue);
  for (const std::string& v : conversion.conversionreviewversions()) versions.append(v);
  if (versions.empty()) versions.append("v1");
  for (const std::string& mistake : CheckReviewVersions(versions, "conversionReviewVersions")) {
    error(mistake);
  }
  Yaml client_config = JsonAsYaml(config);
  if (config.isMember("service") && !conversion.has_servicenamespace()) {
    client_config["service"]["namespace"] = options.service_namespace;
  }
  return Yaml::Map{{"strategy", "Webhook"},
                   {"webhook", Yaml::Map{{"clientConfig", std::move(client_config)},
                                         {"conversionReviewVersions", JsonAsYaml(versions)}}}};
}

}  // namespace mandate::rbacgen
