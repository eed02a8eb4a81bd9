// What a set of identities reaches together: whom they can become, and what all of these may do.
//
// One who holds several identities combines their rights. The ways to more, taken until nothing is
// added (k8s.io/kubernetes: TokenRequest, impersonation, pkg/registry/rbac's escalation checks):
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
  std::string from;    // whose right it is
  std::string how;     // that right, in words
  // How severe it is that somebody has that right; none of the start.
  std::optional<Danger::Severity> severity = std::nullopt;
};

struct BlastRadius {
  std::vector<Step> steps;   // in the order in which they can be taken; the start has no `from`
  bool everything = false;   // any request on any object
  RightsByNamespace rights;  // normalised; without what Kubernetes gives everybody
};

BlastRadius ComputeBlastRadius(const World& world, const std::vector<rbac::UserInfo>& start);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_ASK_BLAST_RADIUS_H_
