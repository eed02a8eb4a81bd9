// The blast radius of a set of identities: the identities that they can become, and the rights of
// all of them together.
//
// A holder of several identities combines their rights. The ways to more rights, which are followed
// until none adds a right (k8s.io/kubernetes: TokenRequest, impersonation, pkg/registry/rbac's
// escalation checks):
//
// - create serviceaccounts/token, impersonate, or a Secret of the type service-account-token
//   (create and get secrets): that ServiceAccount, user or group;
// - create pods, or write what creates them; exec, attach or ephemeral containers in pods: every
//   ServiceAccount of that namespace; nodes/proxy: every ServiceAccount;
// - bind, and write bindings: the rights of the role;
// - escalate, and write roles: every right, there.
#ifndef RBACGEN_ASK_BLAST_RADIUS_H_
#define RBACGEN_ASK_BLAST_RADIUS_H_

#include <optional>
#include <string>
#include <vector>

#include "rbacgen/lint/danger.h"
#include "rbacgen/world/rights.h"
#include "rbacgen/world/world.h"

namespace mandate::rbacgen {

struct Step {
  std::string gained;  // an identity's title, or "the ClusterRole x", "everything in ns"
  std::string from;    // the identity that holds the right
  std::string how;     // that right, in words
  // The severity of that right; nullopt for a step of the start.
  std::optional<Danger::Severity> severity = std::nullopt;
};

struct BlastRadius {
  std::vector<Step> steps;   // in the order in which they can be taken; the start has no `from`
  bool everything = false;   // any request on any object
  RightsByNamespace rights;  // normalised; without the rights that Kubernetes gives every user
};

BlastRadius ComputeBlastRadius(const World& world, const std::vector<rbac::UserInfo>& start);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_ASK_BLAST_RADIUS_H_
