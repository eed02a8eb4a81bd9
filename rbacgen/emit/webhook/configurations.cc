#include "rbacgen/emit/webhook/configurations.h"

#include <algorithm>
#include <map>
#include <utility>

#include "manager/core/strings.h"
#include "rbacgen/markers/text.h"
#include "rbacgen/yaml/json_yaml.h"

namespace mandate::rbacgen {
namespace {

const char* Word(bool mutating) { return mutating ? "mutating" : "validating"; }

std::vector<const Webhook*> Sorted(const Webhooks& webhooks, bool mutating) {
  std::vector<const Webhook*> sorted;
  for (const Webhook& webhook : webhooks.webhooks) {
    if (webhook.mutating == mutating) sorted.push_back(&webhook);
  }
  std::ranges::stable_sort(sorted, {}, &Webhook::name);
  return sorted;
}

Yaml WebhookYaml(const Webhook& webhook, const ConfigurationOptions& options) {
  Yaml yaml = JsonAsYaml(webhook.object);
  if (webhook.object["clientConfig"].isMember("service")) {
    Yaml& service = yaml["clientConfig"]["service"];
    if (!webhook.names_service && !options.service_name.IsNull()) {
      service["name"] = options.service_name;
    }
    if (!webhook.names_namespace && !options.service_namespace.IsNull()) {
      service["namespace"] = options.service_namespace;
    }
    if (!options.ca_bundle.IsNull()) yaml["clientConfig"]["caBundle"] = options.ca_bundle;
  }
  if (!options.condition) return yaml;
  return Yaml::If(options.condition(webhook.component), std::move(yaml));
}

std::string NameOf(const Webhooks& webhooks, bool mutating, const std::string& base_name) {
  for (const ConfigurationName& name : webhooks.names) {
    if (name.mutating == mutating) return name.name;
  }
  return base_name.empty() ? StrCat(Word(mutating), "-webhook-configuration")
                           : StrCat(base_name, "-", Word(mutating));
}

}  // namespace

void CheckWebhooks(const Webhooks& webhooks, Severity twice, Diagnostics* diagnostics) {
  for (const bool mutating : {true, false}) {
    const std::vector<const Webhook*> sorted = Sorted(webhooks, mutating);
    std::map<std::string, Place> places;
    for (const Webhook* webhook : sorted) {
      const auto [known, is_new] = places.emplace(webhook->name(), webhook->place);
      if (is_new) continue;
      diagnostics->Add(
          twice, webhook->place,
          StrCat("the name ", Quoted(webhook->name()), " is also used at ",
                 known->second.ToString(),
                 ": the API server rejects a name that occurs twice in a configuration"));
    }
    const ConfigurationName* first = nullptr;
    for (const ConfigurationName& name : webhooks.names) {
      if (name.mutating != mutating) continue;
      if (sorted.empty()) {
        diagnostics->Error(name.place, StrCat("the sources have no ", Word(mutating),
                                              " webhook, so this name has no effect; remove it"));
      } else if (first != nullptr) {
        diagnostics->Error(
            name.place,
            StrCat("the configuration of ", Word(mutating), " webhooks already has a name at ",
                   first->place.ToString(), "; remove one of the names"));
      }
      if (first == nullptr) first = &name;
    }
  }
}

std::vector<Yaml> WebhookConfigurations(const Webhooks& webhooks,
                                        const ConfigurationOptions& options) {
  std::vector<Yaml> objects;
  for (const bool mutating : {true, false}) {
    Yaml::List list;
    for (const Webhook* webhook : Sorted(webhooks, mutating)) {
      list.push_back(WebhookYaml(*webhook, options));
    }
    if (list.empty()) continue;
    Yaml metadata = options.metadata;
    metadata["name"] = NameOf(webhooks, mutating, options.base_name);
    objects.push_back(Yaml::Map{
        {"apiVersion", "admissionregistration.k8s.io/v1"},
        {"kind", mutating ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration"},
        {"metadata", std::move(metadata)},
        {"webhooks", std::move(list)}});
  }
  return objects;
}

}  // namespace mandate::rbacgen
