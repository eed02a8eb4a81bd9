// Random but plausible sequences of requests.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testing/conformance/explore/step.h"

namespace mandate::conformance::explore {

// An identity that steps name, in addition to admin and nobody. Its permissions are the rules of a
// ClusterRole, as JSON.
struct Identity {
  std::string name;
  std::string rules;
};
const std::vector<Identity>& Identities();

// The same seed gives the same steps. The first step creates the namespace.
std::vector<Step> WriteSequence(uint64_t seed);

}  // namespace mandate::conformance::explore
