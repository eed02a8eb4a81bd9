// Manifests of any form: reading ends, and a further document adds exactly its own object.
#include "rbacgen/world/manifests.h"

#include <string>

#include "testing/fuzz/fuzz.h"

namespace mandate::fuzz {
namespace {

size_t Objects(const rbacgen::World& world) {
  const rbac::Policy& policy = world.policy;
  return policy.roles.size() + policy.cluster_roles.size() + policy.role_bindings.size() +
         policy.cluster_role_bindings.size();
}

void Check(const std::string& text) {
  const auto world = rbacgen::ReadManifests("x.yaml", text, "default");
  if (!world.ok()) {
    Require(world.status().message().find("x.yaml: ") == 0, "an error names the file",
            world.status());
    return;
  }
  constexpr char kRole[] =
      "\n---\n{apiVersion: rbac.authorization.k8s.io/v1, kind: ClusterRole, metadata: {name: a}}";
  const auto longer = rbacgen::ReadManifests("x.yaml", text + kRole, "default");
  Require(longer.ok(), "a further document is read", longer.status());
  Require(Objects(*longer) == Objects(*world) + 1, "a further document is one more object");
}

}  // namespace
}  // namespace mandate::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace mandate::fuzz;
  if (size > 4000) return 0;
  Check(std::string(Text(data, size)));
  return 0;
}
