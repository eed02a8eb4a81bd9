// The admission webhooks that markers declare, in the syntax of controller-gen v0.23:
//
//   // +kubebuilder:webhook:path=/mutate-v1-pod,mutating=true,failurePolicy=fail,sideEffects=None,
//   //   groups="",resources=pods,verbs=create,versions=v1,name=pod.example.com,…   (one line)
//   // +kubebuilder:webhookconfiguration:mutating=true,name=my-configuration
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manager/object/json.h"
#include "rbacgen/markers/diagnostics.h"

namespace mandate::rbacgen {

struct Webhook {
  bool mutating = false;
  // A MutatingWebhook or ValidatingWebhook of admissionregistration.k8s.io/v1, with the marker's
  // patch applied.
  Json::Value object;
  // Whether the marker names the service, and its namespace. If not, they are controller-gen's
  // defaults webhook-service and system.
  bool names_service = false;
  bool names_namespace = false;
  std::string component;  // empty if no component marker precedes it in its file
  Place place;

  std::string name() const { return object["name"].asString(); }
};

// A marker that names the object with the mutating, or validating, webhooks.
struct ConfigurationName {
  bool mutating = false;
  std::string name;
  Place place;
};

struct Webhooks {
  // Sorted by file and line.
  std::vector<Webhook> webhooks;
  std::vector<ConfigurationName> names;
};

// Adds the webhooks that one file declares. A marker with a mistake is reported and skipped;
// `misplaced` is the severity of a marker in a place where it has no effect.
void ReadWebhooks(const std::string& file, std::string_view text, Severity misplaced,
                  Webhooks* webhooks, Diagnostics* diagnostics);

}  // namespace mandate::rbacgen
