// The switches of a chart: values when it is installed, and flags for plain manifests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "rbacgen/markers/mandates.h"
#include "rbacgen/yaml/yaml.h"

namespace mandate::rbacgen {

// The values for plain manifests. A chart has them in values.yaml under the same names.
struct ChartSettings {
  std::string ns = "mandate-system";
  std::vector<std::string> controllers = {"*"};  // like the manager's flag --controllers
  std::vector<std::string> with = {"*"};         // components to include, by their marker's value=
  std::vector<std::string> cut_off = {};         // components of any kind
  std::string identity_mode = "token";           // or impersonate, single
  std::string impersonation = "constrained";     // or classic: for clusters before 1.36
  std::string external = "role";                 // or scopetemplate
  bool create_service_accounts = false;
  bool kill_switch = false;
  bool flow_schemas = false;
  bool audit_policy = false;
  bool fences = true;
  // The namespaces that the manager watches, as its flag --watch-namespaces; all if empty.
  std::vector<std::string> watch_namespaces = {};
  // The audiences of tokens for the API server: kubeadm's, kind's and others', EKS's, k3s's.
  std::vector<std::string> api_audiences = {"https://kubernetes.default.svc.cluster.local",
                                            "https://kubernetes.default.svc", "k3s"};
};

// Gives each switch as a condition for charts and for plain manifests. Immutable.
class ChartSwitches {
 public:
  using Condition = Yaml::Condition;

  explicit ChartSwitches(ChartSettings settings) : settings_(std::move(settings)) {}

  // InvalidArgument, with the manager's message, if `controllers` or `cut_off` names a component
  // that does not exist, if no component is left, if a kill switch is on without tokens, or if
  // `with` has a value that no component has.
  absl::Status Check(const std::vector<ComponentMandate>& components) const;

  // The manager's namespace; the second function puts it between two texts without single quotes.
  Yaml Namespace() const;
  Yaml WithNamespace(std::string_view before, std::string_view after) const;
  // The list of the API server's audiences, as a CEL list, between two texts.
  Yaml WithApiAudiences(std::string_view before, std::string_view after) const;
  Yaml ManagedBy() const { return Yaml::Action("{{ .Release.Service }}", "rbacgen"); }

  // Whether the component is enabled, and whether it also has its grants. A component that is cut
  // off is enabled, but has no grants.
  Condition Enabled(const ComponentMandate& component) const;
  Condition Granted(const ComponentMandate& component) const;
  Condition TokenMode() const { return Mode("token"); }
  Condition ImpersonateMode() const { return Mode("impersonate"); }
  Condition SingleMode() const { return Mode("single"); }
  Condition ConstrainedImpersonation() const;
  Condition ExternalAsScopeTemplate() const;
  Condition CreateServiceAccounts() const;
  Condition KillSwitch() const;
  Condition FlowSchemas() const;
  Condition AuditPolicy() const;
  Condition Fences() const;
  // Whether the manager watches only some namespaces, and which.
  Condition WatchesSomeNamespaces() const;
  Yaml::Strings WatchedNamespaces() const;

 private:
  Condition Mode(std::string_view mode) const;

  const ChartSettings settings_;
};

// templates/generated/_helpers.tpl: the templates that the conditions call for these components,
// and "mandate.name", the manager's name.
std::string HelmHelpers(const std::string& base_name,
                        const std::vector<ComponentMandate>& components);

}  // namespace mandate::rbacgen
