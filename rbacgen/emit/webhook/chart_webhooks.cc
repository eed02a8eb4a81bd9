#include "rbacgen/emit/webhook/chart_webhooks.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "manager/core/strings.h"
#include "rbacgen/emit/chart/object_maker.h"
#include "rbacgen/emit/webhook/configurations.h"

namespace mandate::rbacgen {

namespace {

// The expression of a value of the chart below `webhooks`.
std::string ValueOf(const std::string& name) {
  return StrCat("dig \"webhooks\" \"", name, "\" \"\" $.Values.AsMap");
}

Yaml Quoted(const std::string& value) {
  return Yaml::Action(StrCat("{{ ", value, " | quote }}"), "");
}

// A member that is absent without the value, and in plain manifests.
Yaml IfSet(const std::string& value, Yaml yaml) {
  return Yaml::If({.helm = value, .plain = false}, std::move(yaml));
}

}  // namespace

void CheckValuesOfWebhooks(const Webhooks& webhooks, const Sources& sources,
                           Diagnostics* diagnostics) {
  std::set<std::string> reported;
  for (const Webhook& webhook : webhooks.webhooks) {
    const auto component = sources.components.find(webhook.component);
    if (component == sources.components.end() || sources.values.contains(webhook.component) ||
        webhook.object["clientConfig"].isMember("url") ||
        !reported.insert(webhook.component).second) {
      continue;
    }
    diagnostics->Error(
        component->second.front(),
        StrCat("component ", webhook.component, " has the webhook ", webhook.name(), " (",
               webhook.place.ToString(),
               "), but its marker has no value: the chart would install the webhook's "
               "configuration also while no manager serves it, and the API server would then deny "
               "the writes that it covers; add value=webhooks.enabled to the marker, and name "
               "another component for controllers"));
  }
}

void AddWebhooks(const Webhooks& webhooks, const ChartOptions& options,
                 std::vector<ChartFile>* files, Diagnostics* diagnostics) {
  for (const ConfigurationName& name : webhooks.names) {
    diagnostics->Error(name.place,
                       "+kubebuilder:webhookconfiguration is not supported in a chart: its "
                       "configurations are named after the components; remove the marker");
  }
  for (const Webhook& webhook : webhooks.webhooks) {
    if (std::ranges::find(*files, webhook.component, &ChartFile::name) != files->end()) continue;
    diagnostics->Error(webhook.place,
                       "this webhook has no component; write "
                       "// +mandate:component:name=NAME above it in this file");
  }
  const ChartSwitches switches(options.settings);
  for (ChartFile& file : *files) {
    Webhooks own;
    for (const Webhook& webhook : webhooks.webhooks) {
      if (webhook.component == file.name) own.webhooks.push_back(webhook);
    }
    const std::string name = ServiceAccountName(options.names.base, file.name);
    const ObjectMaker maker(options.names, switches, file.name, name, &file.objects);
    ConfigurationOptions configuration;
    configuration.service_name = options.names.base + "-webhook";
    configuration.service_namespace = switches.Namespace();
    configuration.metadata = maker.Object("", "", name, Yaml())["metadata"];
    const std::string ca = ValueOf("injectCaFrom"), bundle = ValueOf("caBundle");
    configuration.metadata["annotations"] =
        IfSet(ca, Yaml::Map{{"cert-manager.io/inject-ca-from", Quoted(ca)}});
    configuration.ca_bundle = IfSet(bundle, Quoted(bundle));
    configuration.base_name = name;
    for (Yaml& object : WebhookConfigurations(own, configuration)) {
      file.objects.push_back(std::move(object));
    }
  }
}

}  // namespace mandate::rbacgen
