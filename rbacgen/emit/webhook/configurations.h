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
  // The service that the API server calls, if the marker names none; null: as in controller-gen,
  // webhook-service in system. It can be an action of a chart.
  Yaml service_name;
  Yaml service_namespace;
  // The condition of a component's webhooks; null: always.
  std::function<Yaml::Condition(const std::string& component)> condition;
  // Additions to metadata, such as labels.
  Yaml metadata;
  // The objects' names without a marker for them: this and "-mutating" or "-validating"; empty: as
  // controller-gen, mutating-webhook-configuration and validating-webhook-configuration.
  std::string base_name;
};

// Reports the mistakes in all of them together: two names for one configuration, a name for one
// that has no webhooks; and with severity `twice` webhooks of one name, which the API server
// rejects and controller-gen writes.
void CheckWebhooks(const Webhooks& webhooks, Severity twice, Diagnostics* diagnostics);

// The MutatingWebhookConfiguration, then the ValidatingWebhookConfiguration; those without webhooks
// are omitted. Webhooks are in the order of their names, then of the sources.
std::vector<Yaml> WebhookConfigurations(const Webhooks& webhooks,
                                        const ConfigurationOptions& options);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_EMIT_WEBHOOK_CONFIGURATIONS_H_
