// HTTP requests that the server denies, with a message that shows how it parsed them.
#pragma once

#include <cstdint>
#include <string>

#include "testing/rbac_fidelity/dice.h"
#include "testing/rbac_fidelity/request.h"

namespace mandate::fidelity {

// An endless, seeded sequence of methods and targets: all forms of paths, unusual slashes, escapes,
// and valid and invalid list parameters.
class Probes {
 public:
  // The requests impersonate `user`, which must have no permissions.
  Probes(std::string user, uint64_t seed) : user_(std::move(user)), dice_(seed * 31 + 7) {}

  Request Next();

 private:
  std::string Path();
  std::string Query();

  const std::string user_;
  Dice dice_;
};

enum class ProbeResult { kSame, kNotComparable, kDifferent };

struct ProbeVerdict {
  ProbeResult result = ProbeResult::kSame;
  std::string expected;  // our message, or our error
  std::string got;
};

// Compares the message of a 403 for `user` with the message of manager/rbac, and a 400 or 500 from
// before authorization with the InvalidArgument of manager/rbac. Other answers, such as those for a
// path that is open to all users, cannot be compared.
ProbeVerdict Compare(const std::string& user, const Request& request, const Response& response);

}  // namespace mandate::fidelity
