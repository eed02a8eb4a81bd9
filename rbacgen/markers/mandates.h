// The declarations of a set of sources as mandates: the rules of each component, and their
// namespaces.
#pragma once

#include <string>
#include <vector>

#include "manager/rbac/rule.h"
#include "rbacgen/markers/declarations.h"
#include "rbacgen/markers/fence.h"

namespace mandate::rbacgen {

// The rules of one role of a component.
struct Grant {
  // Empty: every namespace and cluster scope. rbac::kManagerNamespace: the manager's.
  std::string ns;
  bool external = false;          // an administrator binds it later
  std::vector<rbac::Rule> rules;  // normalised, not empty
  // "verbs of resources: reason" for each rule with a reason; sorted.
  std::vector<std::string> justifications;
};

// A webhook that the component serves.
struct ServedWebhook {
  std::string path;
  bool mutating = false;
  std::string name = {};  // of the entry in the configuration
};

struct ComponentMandate {
  std::string name;
  // The component's own grants first, then external ones; sorted by namespace.
  std::vector<Grant> grants;
  std::vector<Fence> fences = {};  // in the order of the source
  // Whether the component has EventsRule() and no marker with more rights on events, so that it
  // writes only its own events.
  bool own_events = false;
  // If not empty, this value of the chart enables the component, instead of `controllers`.
  std::string value = {};
  std::string unless = {};                   // if not empty, this value disables it again
  std::vector<ServedWebhook> webhooks = {};  // in the order of the source
};

// All components that the sources name, sorted by name, with EventsRule() in their
// EventNamespaces().
std::vector<ComponentMandate> BuildMandates(const Sources& sources);

// The rule that the runtime needs to record events (manager/controller/rest_event_recorder.h).
rbac::Rule EventsRule();

// The namespaces in which the component records events, if no marker defines them: the namespaces
// of its rules, or everywhere ("") if a rule is for all namespaces. Empty if it records no events.
std::vector<std::string> EventNamespaces(const Sources& sources, const std::string& component);

// The grants of base, all in its own namespace: the tokens of the components' ServiceAccounts, and
// its Lease. `ns` is that namespace, as the grant should have it.
ComponentMandate BuildBaseMandate(const std::vector<ComponentMandate>& components,
                                  const std::string& base_name, const std::string& ns);

// The name of a component's ServiceAccount, for which the manager requests tokens.
std::string ServiceAccountName(const std::string& base_name, const std::string& component);

}  // namespace mandate::rbacgen
