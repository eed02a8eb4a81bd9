// Resources by the names that kubectl accepts for them: plural, singular, short.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "manager/rbac/policy.h"

namespace mandate::rbacgen {

// The names of one resource, in lower case.
struct ResourceNames {
  std::string group;
  std::string plural;
  std::string singular;
  std::vector<std::string> short_names;

  bool operator==(const ResourceNames&) const = default;
};

// Reads the output of `kubectl api-resources --no-headers`; skips other lines.
std::vector<ResourceNames> ParseApiResources(std::string_view text);

struct ResourceId {
  std::string group;
  std::string resource;  // the plural

  bool operator==(const ResourceId&) const = default;
};

// The resource that TYPE, TYPE.GROUP or TYPE.VERSION.GROUP names, without regard to case, as for
// kubectl. The search order is: Kubernetes' own resources, the `custom` ones, then those that the
// policy's rules name, whose singular is guessed. A plural is preferred to a singular, and a
// singular to a short name. An unknown name counts as a plural; without a group, it is in the core
// group.
ResourceId FindResource(std::string_view type, const std::vector<ResourceNames>& custom,
                        const rbac::Policy& policy);

}  // namespace mandate::rbacgen
