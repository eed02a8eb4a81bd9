// Finds the permissions that a component's tests need: removes one permission at a time and runs
// the tests.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "manager/rbac/mandate_without.h"
#include "rbacgen/markers/mandates.h"

namespace mandate::rbacgen {

// True for every verb except get, list and watch.
bool IsWrite(const rbac::Permission& permission);

// The permissions of the components' own markers, sorted and without duplicates; without those of
// granted=external markers and of the rule for events, which every component has.
std::vector<rbac::Permission> OwnPermissions(const std::vector<ComponentMandate>& mandates);

struct Mutation {
  rbac::Permission without;
  bool proven = false;  // a test failed without it
};

// Whether the tests pass while MANDATE_WITHOUT has this value; with an empty value, no permission
// is removed. An error ends the run.
using RunTests = std::function<absl::StatusOr<bool>(std::string_view without)>;

// kFailedPrecondition if the tests fail although no permission was removed: failures would prove
// nothing.
absl::StatusOr<std::vector<Mutation>> Mutate(const std::vector<rbac::Permission>& permissions,
                                             const RunTests& run);

}  // namespace mandate::rbacgen
