// HTTP requests of which the server's refusal tells how it read them.
#ifndef TESTING_RBAC_FIDELITY_PROBES_H_
#define TESTING_RBAC_FIDELITY_PROBES_H_

#include <cstdint>
#include <string>

#include "testing/rbac_fidelity/dice.h"
#include "testing/rbac_fidelity/request.h"

namespace mandate::fidelity {

// An endless, seeded sequence of methods and targets: paths of every shape, odd slashes, escapes,
// list parameters well formed and not.
class Probes {
 public:
  // `user` sends them; nothing may be granted to it.
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

// Compares the message of a 403 to `user` with the one that manager/rbac computes, and a 400 or 500
// from before authorization with its InvalidArgument. Other answers, such as the one of a path that
// is open to all users, cannot be compared.
ProbeVerdict Compare(const std::string& user, const Request& request, const Response& response);

}  // namespace mandate::fidelity

#endif  // TESTING_RBAC_FIDELITY_PROBES_H_
