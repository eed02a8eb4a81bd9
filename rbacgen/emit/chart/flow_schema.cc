#include "rbacgen/emit/chart/flow_schema.h"

#include <string>
#include <utility>

namespace mandate::rbacgen {
namespace {

constexpr char kVersion[] = "flowcontrol.apiserver.k8s.io/v1";

Yaml Everything() { return Yaml(std::vector<std::string>{"*"}); }

}  // namespace

void AddFlowSchema(ObjectMaker& base, const std::vector<ComponentMandate>& components) {
  const ChartSwitches& switches = base.switches();
  const std::string& name = base.names().base;

  // Slightly less than the server's own workload-high (40 shares), and a third of workload-low
  // (100), which otherwise serves most requests of ServiceAccounts.
  Yaml::Map level = base.Object(kVersion, "PriorityLevelConfiguration", name, Yaml());
  level["spec"] = Yaml::Map{
      {"type", "Limited"},
      {"limited",
       Yaml::Map{{"nominalConcurrencyShares", Yaml::Verbatim("30")},
                 {"limitResponse",
                  Yaml::Map{{"type", "Queue"},
                            {"queuing", Yaml::Map{{"queues", Yaml::Verbatim("64")},
                                                  {"handSize", Yaml::Verbatim("6")},
                                                  {"queueLengthLimit", Yaml::Verbatim("50")}}}}}}}};
  base.Add(std::move(level), switches.FlowSchemas());

  Yaml::List subjects;
  const auto add = [&](const std::string& account, const Yaml::Condition& condition) {
    subjects.push_back(Yaml::If(
        condition, Yaml::Map{{"kind", "ServiceAccount"},
                             {"serviceAccount",
                              Yaml::Map{{"name", account}, {"namespace", switches.Namespace()}}}}));
  };
  add(name, {});
  for (const ComponentMandate& component : components) {
    add(ServiceAccountName(name, component.name), switches.Enabled(component));
  }
  Yaml::Map schema = base.Object(kVersion, "FlowSchema", name, Yaml());
  schema["spec"] = Yaml::Map{
      {"distinguisherMethod", Yaml::Map{{"type", "ByUser"}}},
      // Comes before the server's own schemas for the ServiceAccounts of kube-system (900) and of
      // all other namespaces.
      {"matchingPrecedence", Yaml::Verbatim("850")},
      {"priorityLevelConfiguration", Yaml::Map{{"name", name}}},
      {"rules", Yaml::List{Yaml::Map{
                    {"subjects", std::move(subjects)},
                    {"nonResourceRules", Yaml::List{Yaml::Map{{"nonResourceURLs", Everything()},
                                                              {"verbs", Everything()}}}},
                    {"resourceRules", Yaml::List{Yaml::Map{{"apiGroups", Everything()},
                                                           {"clusterScope", Yaml::Verbatim("true")},
                                                           {"namespaces", Everything()},
                                                           {"resources", Everything()},
                                                           {"verbs", Everything()}}}}}}}};
  base.Add(std::move(schema), switches.FlowSchemas());
}

}  // namespace mandate::rbacgen
