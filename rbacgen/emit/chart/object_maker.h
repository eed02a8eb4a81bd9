// Makes the Kubernetes objects of one component, or of base, with their common names and labels.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "rbacgen/emit/chart/chart_switches.h"
#include "rbacgen/markers/mandates.h"
#include "rbacgen/yaml/yaml.h"

namespace mandate::rbacgen {

// The parts of the names and labels of a chart's objects.
struct ChartNames {
  // The prefix of the names of all objects; the name of the manager's ServiceAccount and Lease.
  std::string base = "mandate-manager";
  // The label app.kubernetes.io/part-of. Empty: `base` without the suffix "-manager".
  std::string part_of = "";
  // The ServiceAccounts of all components. They distinguish a component's name from the name of
  // base or another component with a suffix. BuildChart fills them in.
  std::vector<std::string> accounts = {};

  std::string PartOf() const;
};

// Not thread-safe.
class ObjectMaker {
 public:
  // `account` is the component's ServiceAccount. `names`, `switches` and `out` outlive this.
  ObjectMaker(const ChartNames& names, const ChartSwitches& switches, std::string component,
              std::string account, std::vector<Yaml>* out)
      : names_(names),
        switches_(switches),
        component_(std::move(component)),
        account_(std::move(account)),
        out_(*out) {}

  // An object with its metadata; `ns` is null for a cluster-scoped object.
  Yaml::Map Object(const std::string& version, const std::string& kind, const std::string& name,
                   const Yaml& ns) const;
  void Add(Yaml::Map object, const Yaml::Condition& condition = {});

  // Adds a Role, or a ClusterRole if `ns` is null.
  void Role(const std::string& name, const Yaml& ns, Yaml rules,
            const std::vector<std::string>& justifications, const Yaml::Condition& condition = {});
  // Adds a binding of the role with that name to the subjects.
  void Binding(const std::string& role, const Yaml& ns, Yaml::List subjects,
               const Yaml::Condition& condition = {});
  // Adds a RoleBinding of the ClusterRole with that name in each namespace of a manager that does
  // not watch all of them. It has a name of its own, because the component may have a Role there.
  void BindingInWatchedNamespaces(const std::string& role, Yaml::List subjects);
  // The namespace of a Grant; null if it is for the whole cluster.
  Yaml NamespaceOf(const std::string& grant_ns) const;
  // A ServiceAccount of the manager's namespace, as a subject.
  Yaml Subject(const std::string& account) const;
  // The account that makes the component's requests; it depends on the identity mode.
  Yaml::List Requesters() const;

  const std::string& component() const { return component_; }
  const std::string& account() const { return account_; }
  const ChartNames& names() const { return names_; }
  const ChartSwitches& switches() const { return switches_; }

 private:
  Yaml::Map BindingObject(const std::string& name, const std::string& role_kind,
                          const std::string& role, const Yaml& ns, Yaml::List subjects) const;

  const ChartNames& names_;
  const ChartSwitches& switches_;
  const std::string component_;
  const std::string account_;
  std::vector<Yaml>& out_;
};

}  // namespace mandate::rbacgen
