// Decides which failed requests a component's client sends again, and marks the errors of those on
// which the server may have acted.
#pragma once

#include "absl/status/status.h"

namespace mandate {

enum class RetryReason {
  kNone,  // the error goes to the caller
  // 429: the server did nothing (RFC 6585), and asks to wait. Not that of an eviction (eviction.h).
  kThrottled,
  kNotSent,     // the server certainly did nothing (core/not_sent.h)
  kRetryAfter,  // 5xx with Retry-After: the server may have acted
  kConnection,  // no complete answer: the server may have acted
};
inline constexpr int kRetryReasons = 5;
// "throttled"; for metrics.
const char* ToString(RetryReason reason);

// The reason to send a request again that failed with `error`: the first two whatever the verb, the
// others only if the request is `idempotent`. `code` is that of the answer, 0 without one.
RetryReason RetryReasonFor(int code, const absl::Status& error, bool idempotent);

// Whether the server may have carried out a write that failed so.
bool MayHaveBeenProcessed(int code, const absl::Status& error);

// `status` with a mark in a payload, and without the mark of MarkNotSent(): the outcome of a write
// that failed is unknown. The server may have carried it out, or may still do so. OK stays as it
// is.
absl::Status MarkOutcomeUnknown(absl::Status status);

// For an error of RestClient or of a typed call:
//
//   if (IsOutcomeUnknown(created.status())) { /* read what is there before trying again */ }
//
// False: the server certainly did nothing (it answered 4xx, or WasNotSent()), or the request was a
// read.
bool IsOutcomeUnknown(const absl::Status& status);

}  // namespace mandate
