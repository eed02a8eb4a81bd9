// The mark of a failed write whose outcome is unknown: the server may have carried it out, or may
// still do so.
//
//   if (IsAmbiguous(created.status())) { /* read what is there before trying again */ }
#ifndef MANAGER_CLIENT_AMBIGUOUS_H_
#define MANAGER_CLIENT_AMBIGUOUS_H_

#include "absl/status/status.h"

namespace mandate {

// `status` with the mark in a payload, and without the mark of NotSent(). OK stays as it is.
absl::Status Ambiguous(absl::Status status);

// For an error of RestClient or of a typed call. False: the server certainly did nothing (it
// answered 4xx, or WasNotSent()), or the request was a read.
bool IsAmbiguous(const absl::Status& status);

}  // namespace mandate

#endif  // MANAGER_CLIENT_AMBIGUOUS_H_
