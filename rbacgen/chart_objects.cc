#include "rbacgen/chart_objects.h"

#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "manager/core/status_macros.h"
#include "rbacgen/roles.h"

namespace mandate::rbacgen {
namespace {

constexpr char kRbacVersion[] = "rbac.authorization.k8s.io/v1";
constexpr char kRbacGroup[] = "rbac.authorization.k8s.io";
constexpr char kJustification[] = "mandate.io/justification";

// Makes the objects of one component, or of base.
class ObjectMaker {
 public:
  ObjectMaker(const ChartOptions& options, std::string component, std::string account,
              std::vector<Yaml>* out)
      : options_(options),
        component_(std::move(component)),
        account_(std::move(account)),
        out_(*out) {}

  void ServiceAccount(bool mounted_in_pods) {
    Yaml::Map object = Object("v1", "ServiceAccount", account_, options_.ns);
    if (!mounted_in_pods) object["automountServiceAccountToken"] = Yaml::Verbatim("false");
    out_.push_back(std::move(object));
  }

  void Lease() {
    Yaml::Map object = Object("coordination.k8s.io/v1", "Lease", account_, options_.ns);
    object["spec"] = Yaml::Map();
    out_.push_back(std::move(object));
  }

  // A ClusterRole if `ns` is null.
  void Role(const std::string& name, const Yaml& ns, const Grant& grant) {
    Yaml::Map object = Object(kRbacVersion, ns.IsNull() ? "ClusterRole" : "Role", name, ns);
    if (!grant.justifications.empty()) {
      object["metadata"]["annotations"] =
          Yaml::Map{{kJustification, absl::StrJoin(grant.justifications, "\n")}};
    }
    object["rules"] = RulesYaml(grant.rules);
    out_.push_back(std::move(object));
  }

  void Binding(const std::string& role, const Yaml& ns) {
    const std::string kind = ns.IsNull() ? "ClusterRole" : "Role";
    Yaml::Map object = Object(kRbacVersion, kind + "Binding", role, ns);
    object["roleRef"] = Yaml::Map{{"apiGroup", kRbacGroup}, {"kind", kind}, {"name", role}};
    object["subjects"] = Yaml::List{
        Yaml::Map{{"kind", "ServiceAccount"}, {"name", account_}, {"namespace", options_.ns}}};
    out_.push_back(std::move(object));
  }

  const std::string& account() const { return account_; }

 private:
  Yaml::Map Object(const char* version, const std::string& kind, const std::string& name,
                   const Yaml& ns) const {
    Yaml::Map metadata = {
        {"labels", Yaml::Map{{"app.kubernetes.io/component", component_},
                             {"app.kubernetes.io/managed-by", options_.managed_by},
                             {"app.kubernetes.io/name", options_.base_name},
                             {"app.kubernetes.io/part-of", options_.part_of}}},
        {"name", name}};
    if (!ns.IsNull()) metadata["namespace"] = ns;
    return {{"apiVersion", version}, {"kind", kind}, {"metadata", std::move(metadata)}};
  }

  const ChartOptions& options_;
  const std::string component_;
  const std::string account_;
  std::vector<Yaml>& out_;
};

absl::Status CheckNames(const std::vector<Yaml>& objects, std::set<std::string>* seen) {
  for (const Yaml& object : objects) {
    const Yaml& metadata = object["metadata"];
    const std::string name =
        absl::StrCat(object["kind"].text(), " ", metadata["namespace"].text(),
                     metadata["namespace"].IsNull() ? "" : "/", metadata["name"].text());
    if (!seen->insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("two components would own the ", name, "; rename one of them"));
    }
  }
  return absl::OkStatus();
}

void AddComponent(const ComponentMandate& component, ObjectMaker maker) {
  maker.ServiceAccount(/*mounted_in_pods=*/false);
  for (const Grant& grant : component.grants) {
    const Yaml ns = grant.ns.empty() ? Yaml() : Yaml(grant.ns);
    const std::string role = maker.account() + (grant.external ? "-external" : "");
    maker.Role(role, ns, grant);
    if (!grant.external) maker.Binding(role, ns);
  }
}

Grant ToCreateServiceAccounts(const std::vector<ComponentMandate>& components,
                              const std::string& base_name) {
  std::vector<std::string> accounts;
  for (const ComponentMandate& c : components) {
    accounts.push_back(ServiceAccountName(base_name, c.name));
  }
  Grant grant;
  // A request to create carries no name yet, so that rule cannot have any.
  grant.rules.push_back({.verbs = {"create"},
                         .api_groups = {""},
                         .resources = {"serviceaccounts"},
                         .resource_names = {},
                         .non_resource_urls = {}});
  if (!accounts.empty()) {
    grant.rules.push_back({.verbs = {"get"},
                           .api_groups = {""},
                           .resources = {"serviceaccounts"},
                           .resource_names = std::move(accounts),
                           .non_resource_urls = {}});
  }
  return grant;
}

}  // namespace

absl::StatusOr<ChartObjects> BuildChart(const std::vector<ComponentMandate>& components,
                                        const ChartOptions& options) {
  ChartObjects chart;
  ObjectMaker base(options, "base", options.base_name, &chart.always);
  base.ServiceAccount(/*mounted_in_pods=*/true);
  base.Lease();
  const ComponentMandate mandate = BuildBaseMandate(components, options.base_name, "");
  base.Role(options.base_name, options.ns, mandate.grants.at(0));
  base.Binding(options.base_name, options.ns);
  for (const ComponentMandate& component : components) {
    AddComponent(component,
                 ObjectMaker(options, component.name,
                             ServiceAccountName(options.base_name, component.name), &chart.always));
  }

  ObjectMaker creator(options, "base", options.base_name, &chart.to_create_service_accounts);
  const std::string role = options.base_name + "-create-service-accounts";
  creator.Role(role, options.ns, ToCreateServiceAccounts(components, options.base_name));
  creator.Binding(role, options.ns);

  std::set<std::string> names;
  RETURN_IF_ERROR(CheckNames(chart.always, &names));
  RETURN_IF_ERROR(CheckNames(chart.to_create_service_accounts, &names));
  return chart;
}

}  // namespace mandate::rbacgen
