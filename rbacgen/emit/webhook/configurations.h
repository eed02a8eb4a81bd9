// Webhooks as the objects of admissionregistration.k8s.io/v1 that hold them.
#ifndef RBACGEN_EMIT_WEBHOOK_CONFIGURATIONS_H_
#define RBACGEN_EMIT_WEBHOOK_CONFIGURATIONS_H_

#include <functional>
#include <string>
#include <vector>

#include "rbacgen/emit/webhook/webhook.h"
#include "rbacgen/markers/diagnostics.h"
#include "rbacgen/yaml/yaml.h"

namespace mandate::rbacgen {

struct ConfigurationOptions {
  // The service that the API server calls, where the marker names none; null: as controller-gen,
  // webhook-service in system. An action of a chart may stand here.
  Yaml service_name;
  Yaml service_namespace;
  // When a component's webhooks are there; null: always.
  std::function<Yaml::Condition(const std::string& component)> condition;
  // What is added to metadata, such as labels.
  Yaml metadata;
  // The objects' names where no marker gives one: this and "-mutating" or "-validating"; empty: as
  // controller-gen, mutating-webhook-configuration and validating-webhook-configuration.
  std::string base_name;
};

// Reports what is wrong with all of them together: two names for one configuration, a name for one
// that has no webhooks; and with severity `twice` webhooks of one name, which the API server
// refuses and controller-gen writes.
void CheckWebhooks(const Webhooks& webhooks, Severity twice, Diagnostics* diagnostics);

// The MutatingWebhookConfiguration, then the ValidatingWebhookConfiguration; those without webhooks
// are left out. Webhooks stand in the order of their names, then of the sources.
std::vector<Yaml> WebhookConfigurations(const Webhooks& webhooks,
                                        const ConfigurationOptions& options);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_WEBHOOK_CONFIGURATIONS_H_
