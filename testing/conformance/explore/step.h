// One request of a sequence, with placeholders for values that a server chooses.
#pragma once

#include <string>

namespace mandate::conformance::explore {

// `target` and `body` may contain placeholders, which are replaced by values of each server:
//   @{ns}            the sequence's namespace, and the prefix of its names outside it
//   @{rv:NAME}       the resourceVersion of the object of that name, as last seen; @{rv0:NAME} as
//   first
//   @{uid:NAME}      its uid
//   @{listrv}, @{continue}   of the last list
// An unknown value is replaced by the same text, which no server uses, for both.
struct Step {
  std::string method;
  std::string target;
  std::string body = {};
  bool has_body = false;
  std::string as = "admin";  // see Session::Authenticate
  std::string accept = "application/json";
  std::string content = {};  // empty: no Content-Type
  bool watch = false;        // a stream: its events are compared at the end of the sequence
};

}  // namespace mandate::conformance::explore
