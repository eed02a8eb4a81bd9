// The span of one request of a component.
#pragma once

#include <string_view>

#include "manager/client/rest_client.h"
#include "manager/core/trace.h"

namespace mandate {

// A child of `parent`, "GET pods" or "PATCH deployments/status", of kind client, with
// OpenTelemetry's attributes of HTTP requests. It has the path without the query, which may have a
// list's token.
Span RequestSpan(const TraceContext& parent, std::string_view component,
                 const RestRequest& request);

// Ends the span with the result before it is delivered. Without a span that is recorded: `done`.
RestClient::Done EndingSpan(Span span, RestClient::Done done);

}  // namespace mandate
