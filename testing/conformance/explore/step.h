// One request of a sequence, before a server has said what its placeholders stand for.
#ifndef TESTING_CONFORMANCE_EXPLORE_STEP_H_
#define TESTING_CONFORMANCE_EXPLORE_STEP_H_

#include <string>

namespace mandate::conformance::explore {

// In `target` and `body` stand placeholders, which each server fills with its own words:
//   @{ns}            the sequence's namespace, and the prefix of its names outside it
//   @{rv:NAME}       the resourceVersion of the object of that name, as last seen; @{rv0:NAME} as
//   first
//   @{uid:NAME}      its uid
//   @{listrv}, @{continue}   of the last list
// What was never seen is a value that no server has: the same for both.
struct Step {
  std::string method;
  std::string target;
  std::string body = {};
  bool has_body = false;
  std::string as = "admin";  // see Session::Authenticate
  std::string accept = "application/json";
  std::string content = {};  // empty: no Content-Type
  bool watch = false;        // a stream: what it brings is compared at the end of the sequence
};

}  // namespace mandate::conformance::explore

#endif  // TESTING_CONFORMANCE_EXPLORE_STEP_H_
