// Which permissions a component's tests would miss: each is taken away, and the tests run again.
#ifndef RBACGEN_MUTATE_MUTATIONS_H_
#define RBACGEN_MUTATE_MUTATIONS_H_

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/rbac/mandate_without.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

// Every verb but get, list and watch.
bool IsWrite(const rbac::Permission& permission);

// What the components' own markers ask for, each once, sorted; not what others grant, nor the rule
// for events, which every component gets.
std::vector<rbac::Permission> OwnPermissions(const std::vector<ComponentMandate>& mandates);

struct Mutation {
  rbac::Permission without;
  bool proven = false;  // some test failed without it
};

// Whether the tests pass while MANDATE_WITHOUT is this; empty: while nothing is taken away. An
// error ends it all.
using RunTests = std::function<absl::StatusOr<bool>(std::string_view without)>;

// kFailedPrecondition when the tests fail as they are: they would prove nothing.
absl::StatusOr<std::vector<Mutation>> Mutate(const std::vector<rbac::Permission>& permissions,
                                             const RunTests& run);

}  // namespace mandate::rbacgen

#endif  // RBACGEN_MUTATE_MUTATIONS_H_
