// Checks a response or an event against a row's expectation.
#pragma once

#include <jsoncpp/json/json.h>

#include "absl/status/status.h"
#include "testing/conformance/http.h"
#include "testing/conformance/row.h"
#include "testing/conformance/variables.h"

namespace mandate::conformance {

// kFailedPrecondition with the difference. Captures into `variables`. Ignores the expected audit
// events.
absl::Status CheckResponse(const Expectation& expect, const Response& response,
                           Variables& variables);

// `expected`: "ADDED", "ADDED name", or {ADDED: object}; `event` is {type, object}.
absl::Status CheckEvent(const Json::Value& expected, const Json::Value& event,
                        Variables& variables);

// True for a bookmark without annotations if the row expects no bookmark. A server sends such
// bookmarks by its own timer, so they may come between any two events.
bool IsPassedOver(const Json::Value& event, const Json::Value& expected);

}  // namespace mandate::conformance
