// The blast radius of a set of identities: the identities that they can become, and the rights of
// all of them together.
//
// A holder of several identities combines their rights. These ways lead to more rights; they are
// followed until none of them adds a right (k8s.io/kubernetes: TokenRequest, impersonation, the
// escalation checks of pkg/registry/rbac):
//
// - create serviceaccounts/token, impersonate, or a Secret of the type service-account-token
//   (create and get secrets): the rights of that ServiceAccount, user or group;
// - create pods, or write objects that create them; exec, attach or ephemeral containers in pods:
//   the rights of every ServiceAccount of that namespace; nodes/proxy: of every ServiceAccount;
// - bind, and write bindings: the rights of the role;
// - escalate, and write roles: every right in the namespace of the role, or everywhere.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "manager/rbac/risky_rights.h"
#include "rbacgen/world/rights.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

struct Step {
  std::string gained;  // an identity's title, or "the ClusterRole x", "everything in ns"
  std::string from;    // the identity that holds the right
  std::string how;     // that right, in words
  // The severity of that right; nullopt for the identities at the start.
  std::optional<rbac::RiskyRight::Severity> severity = std::nullopt;
};

struct BlastRadius {
  // In the order in which they can be taken; the steps of the start have no `from`.
  std::vector<Step> steps;
  bool everything = false;   // any request on any object
  RightsByNamespace rights;  // normalised; without the rights that Kubernetes gives every user
};

BlastRadius ComputeBlastRadius(const World& world, const std::vector<rbac::UserInfo>& start);

}  // namespace mandate::rbacgen
