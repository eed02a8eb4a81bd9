// Matches actual texts and values against a row's expectations.
#pragma once

#include <jsoncpp/json/json.h>

#include <string_view>

#include "absl/status/status.h"
#include "testing/conformance/variables.h"

namespace mandate::conformance {

// Matches a text with placeholders and variables. A placeholder is <any>, <uid>, <rv>, <time>,
// <microtime>, <int>, <name>, or <~ regular expression>. With a variable, as in <uid $u>, the
// matched text is captured. <above $rv> matches a number greater than the variable's value, and
// must be the whole text. Anything else between < and > is plain text.
//
// kFailedPrecondition with the expected and the actual text. Captures only on success.
absl::Status MatchText(std::string_view expected, std::string_view actual, Variables& variables);

// `actual` is nullptr for an absent member. Numbers, booleans and null must be equal. Strings match
// as texts; in addition <any> matches any value, <absent> an absent member, and <int> a number. An
// object must match the expected members and may have others, unless the expectation has `<only>:
// true`. A list must match all elements; if the first expected element is <some>, the others must
// match some elements, in this order. Errors name the path.
absl::Status MatchJson(const Json::Value& expected, const Json::Value* actual,
                       Variables& variables);

}  // namespace mandate::conformance
