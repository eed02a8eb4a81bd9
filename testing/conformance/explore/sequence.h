// Runs a sequence of requests on two servers and reports where their answers differ.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "testing/conformance/explore/difference.h"
#include "testing/conformance/explore/step.h"
#include "testing/conformance/http.h"

namespace mandate::conformance::explore {

// One of the two servers. Single-threaded.
struct Side {
  HttpClient* http = nullptr;
  bool certificate = false;                   // whether admin authenticates with it
  std::map<std::string, std::string> tokens;  // by identity; absent: no credential
};

struct Outcome {
  std::optional<Difference> difference;
  size_t requests = 0;                    // the number of compared requests
  size_t reworded = 0;                    // of these, errors with another wording
  std::map<std::string, size_t> refused;  // unsupported by the double, by its message
};

// `ns` must not exist on either server. Ends at the first difference, or when the double answers a
// write or a watch with 501. If the double answers a read with 501, the real server's answer is
// ignored.
Outcome RunSequence(const std::vector<Step>& steps, const std::string& ns, Side& real, Side& ours,
                    std::string* trace = nullptr);

}  // namespace mandate::conformance::explore
