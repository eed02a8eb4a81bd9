// Writes webhooks as the objects of admissionregistration.k8s.io/v1 that contain them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rbacgen/emit/webhook/webhook.h"
#include "rbacgen/markers/diagnostics.h"
#include "rbacgen/yaml/yaml.h"

namespace mandate::rbacgen {

struct ConfigurationOptions {
  // The service that the API server calls if the marker names none. If null, webhook-service in
  // system, as in controller-gen. It can be an action of a chart.
  Yaml service_name;
  Yaml service_namespace;
  // The certificates that verify the service, in base64; null: the markers alone decide.
  Yaml ca_bundle = {};
  // The condition under which the chart renders the webhooks of a component; null: always.
  std::function<Yaml::Condition(const std::string& component)> condition;
  // Additions to metadata, such as labels.
  Yaml metadata;
  // The prefix of the objects' names if no marker names them; "-mutating" or "-validating" follows.
  // If empty, mutating-webhook-configuration and validating-webhook-configuration, as in
  // controller-gen.
  std::string base_name;
};

// Reports the mistakes that concern several markers: two names for one configuration, and a name
// for a configuration without webhooks. Webhooks with the same name have the severity `twice`:
// controller-gen writes them, but the API server rejects them.
void CheckWebhooks(const Webhooks& webhooks, Severity twice, Diagnostics* diagnostics);

// The MutatingWebhookConfiguration, then the ValidatingWebhookConfiguration; one without webhooks
// is omitted. Webhooks are sorted by name, then by the order of the sources.
std::vector<Yaml> WebhookConfigurations(const Webhooks& webhooks,
                                        const ConfigurationOptions& options);

}  // namespace mandate::rbacgen
