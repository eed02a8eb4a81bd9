// Whether what came out is what a row says must come out.
#ifndef TESTING_CONFORMANCE_MATCH_H_
#define TESTING_CONFORMANCE_MATCH_H_

#include <jsoncpp/json/json.h>

#include <string_view>

#include "absl/status/status.h"
#include "testing/conformance/variables.h"

namespace mandate::conformance {

// Text with placeholders and variables. A placeholder is <any>, <uid>, <rv>, <time>, <microtime>,
// <int>, <name>, or <~ regular expression>; with a variable in it, as in <uid $u>, what it
// matches is captured. <above $rv> matches a number greater than the variable's value, and must be
// the whole text. Anything else between < and > is text.
//
// kFailedPrecondition says what was expected and what came; captures only on success.
absl::Status MatchText(std::string_view expected, std::string_view actual, Variables& variables);

// `actual` is nullptr for a member that is not there. Numbers, booleans and null are equal; strings
// match as texts, and the string <any> matches whatever is there, <absent> what is not, <int> also
// a number. Of an object the expected members match, others may be there unless the expectation
// holds `<only>: true`. Of a list all elements match, or after a first element <some> those that
// are listed, in that order. Errors name the path.
absl::Status MatchJson(const Json::Value& expected, const Json::Value* actual,
                       Variables& variables);

}  // namespace mandate::conformance

#endif  // TESTING_CONFORMANCE_MATCH_H_
