// The fields of the four RBAC kinds that the authorizer reads. Plain values.
//
// Labels and aggregation rules are absent: kube-controller-manager, not the authorizer, turns an
// aggregation into `rules`.
#pragma once

#include <string>
#include <vector>

#include "manager/rbac/rule.h"

namespace mandate::rbac {

inline constexpr char kRbacGroup[] = "rbac.authorization.k8s.io";

struct Role {
  std::string ns;
  std::string name;
  std::vector<Rule> rules;

  bool operator==(const Role&) const = default;
};

struct ClusterRole {
  std::string name;
  std::vector<Rule> rules;

  bool operator==(const ClusterRole&) const = default;
};

struct RoleRef {
  std::string api_group = kRbacGroup;  // never consulted when a request is decided
  std::string kind;                    // "Role" or "ClusterRole"
  std::string name;

  bool operator==(const RoleRef&) const = default;
};

struct Subject {
  std::string kind;       // "User", "Group" or "ServiceAccount"
  std::string api_group;  // never consulted when a request is decided
  std::string name;
  std::string ns;  // of a ServiceAccount; in a RoleBinding, empty means the binding's namespace

  bool operator==(const Subject&) const = default;
};

struct RoleBinding {
  std::string ns;
  std::string name;
  RoleRef role_ref;
  std::vector<Subject> subjects;

  bool operator==(const RoleBinding&) const = default;
};

struct ClusterRoleBinding {
  std::string name;
  RoleRef role_ref;
  std::vector<Subject> subjects;

  bool operator==(const ClusterRoleBinding&) const = default;
};

// All data that the RBAC authorizer of a cluster uses.
struct Policy {
  std::vector<Role> roles;
  std::vector<ClusterRole> cluster_roles;
  std::vector<RoleBinding> role_bindings;
  std::vector<ClusterRoleBinding> cluster_role_bindings;

  bool operator==(const Policy&) const = default;
};

}  // namespace mandate::rbac
