// Reads a response as it comes, on a thread that may block.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "manager/client/rest_client.h"
#include "manager/core/call_context.h"

namespace mandate {

// Gets the bytes of a 2xx response, cut anywhere, and its content type. An error ends the response
// and is its result.
using StreamBytes =
    std::function<absl::Status(std::string_view content_type, std::string_view bytes)>;

// Sends the request once, by RestClient::Watch(), and calls `sink` on the calling thread until the
// response ends (OK), `context` ends (kCancelled, kDeadlineExceeded), or an error comes. What came
// before an error goes to `sink` first. A context without a deadline has no limit of time.
//
// A stream is never paused, so that one reader does not hold up others on its connection: when more
// than `max_buffered` bytes wait for `sink`, the result is kResourceExhausted.
//
// Not on the loop (kFailedPrecondition). Thread-safe.
absl::Status ReadStream(const CallContext& context, RestClient& rest, RestRequest request,
                        size_t max_buffered, const StreamBytes& sink);

}  // namespace mandate
