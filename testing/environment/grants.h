// The objects of a cluster that give a manager and its components their permissions, as the chart
// of the program makes them.
#pragma once

#include <jsoncpp/json/json.h>

#include <string>
#include <string_view>
#include <vector>

#include "manager/object/kind.h"
#include "manager/rbac/mandate.h"

namespace mandate {

// An object to create. `json` has its apiVersion, kind and metadata.
struct ApiObject {
  KindInfo kind;
  Json::Value json;

  ObjectKey Key() const;
};

// The ServiceAccount of base, and the name of the Lease.
inline constexpr char kBaseAccount[] = "mandate-manager";
// The rules for base in the manager's namespace: it holds the Lease there.
extern const rbac::Mandate kTestBase;

std::string AccountOf(const rbac::Mandate& component);

// The roles that `declared` needs, with the rules of `granted`, which is the same mandate or a part
// of it. `ns` is the manager's namespace, and a part of the names: they differ between managers.
// A ClusterRole for the rules of all namespaces, a Role for those of one, and a ClusterRole for the
// rules with granted=external.
std::vector<ApiObject> RolesOf(const std::string& ns, const rbac::Mandate& declared,
                               const rbac::Mandate& granted);

// The ServiceAccount of the component and the bindings of its roles, except of external rules.
std::vector<ApiObject> SubjectsOf(const std::string& ns, const rbac::Mandate& component);

// What gives the component its external rules at `where`: in a namespace, or for one object there.
// Without a namespace: in the cluster. A role, for one object, comes before the binding.
std::vector<ApiObject> ExternalGrantOf(const std::string& ns, const rbac::Mandate& component,
                                       const ObjectKey& where);

// Base's ServiceAccount, its Role and its binding, and the Lease.
std::vector<ApiObject> ObjectsOfBase(const std::string& ns,
                                     const std::vector<const rbac::Mandate*>& components);

// The namespaces that the component's rules name, except the manager's own.
std::vector<std::string> NamespacesOf(const rbac::Mandate& component);

}  // namespace mandate
