// Runs a sequence of requests on two servers and says where they part.
#ifndef TESTING_CONFORMANCE_EXPLORE_SEQUENCE_H_
#define TESTING_CONFORMANCE_EXPLORE_SEQUENCE_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "testing/conformance/explore/difference.h"
#include "testing/conformance/explore/step.h"
#include "testing/conformance/http.h"

namespace mandate::conformance::explore {

// One of the two servers, of one thread.
struct Side {
  HttpClient* http = nullptr;
  bool certificate = false;                   // admin shows it
  std::map<std::string, std::string> tokens;  // of identities; none: no credential
};

struct Outcome {
  std::optional<Difference> difference;
  size_t requests = 0;                    // that were compared
  size_t reworded = 0;                    // of those, refused in other words
  std::map<std::string, size_t> refused;  // what the double does not do, in its words
};

// `ns` is new to both servers. Ends at the first difference, and where the double refuses a write
// or a watch with 501; the real server's answer to anything else that it refuses is forgotten.
Outcome RunSequence(const std::vector<Step>& steps, const std::string& ns, Side& real, Side& ours,
                    std::string* trace = nullptr);

}  // namespace mandate::conformance::explore

#endif  // TESTING_CONFORMANCE_EXPLORE_SEQUENCE_H_
