// The declarations of a set of sources as mandates: the rules of each component, and their
// namespaces.
#ifndef RBACGEN_MARKERS_MANDATES_H_
#define RBACGEN_MARKERS_MANDATES_H_

#include <string>
#include <vector>

#include "manager/rbac/rule.h"
#include "rbacgen/markers/declarations.h"
#include "rbacgen/markers/fence.h"

namespace mandate::rbacgen {

// The rules that one role of a component holds.
struct Grant {
  std::string ns;                 // empty: every namespace and cluster scope
  bool external = false;          // an administrator binds it later
  std::vector<rbac::Rule> rules;  // normalised, not empty
  // "verbs of resources: reason" for each rule that gives one; sorted.
  std::vector<std::string> justifications;
};

struct ComponentMandate {
  std::string name;
  // Own grants first, then external ones; by namespace.
  std::vector<Grant> grants;
  std::vector<Fence> fences = {};  // in the order of the source
  // It has EventsRule() and no marker with more rights on events: it writes only its own events.
  bool own_events = false;
  // Not empty: the component is enabled by this value of the chart, and not by `controllers`.
  std::string value = {};
};

// Every component that the sources name, by name, with EventsRule() in its EventNamespaces().
std::vector<ComponentMandate> BuildMandates(const Sources& sources);

// The rule that the runtime needs to record events (manager/controller/rest_event_recorder.h).
rbac::Rule EventsRule();

// Where the component records events, without a marker that says so: in the namespaces of its
// rules where all of them are in some, else everywhere (""). Empty: nowhere.
std::vector<std::string> EventNamespaces(const Sources& sources, const std::string& component);

// What the manager's own identity is granted, all in its namespace: the tokens of the components'
// ServiceAccounts, and its lease. `ns` is that namespace, as the grant should name it.
ComponentMandate BuildBaseMandate(const std::vector<ComponentMandate>& components,
                                  const std::string& base_name, const std::string& ns);

// The ServiceAccount of a component. The manager requests tokens for it.
std::string ServiceAccountName(const std::string& base_name, const std::string& component);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_MARKERS_MANDATES_H_
