// The error of a demand for a kind that the API server does not serve.
#ifndef MANAGER_CACHE_NOT_SERVED_H_
#define MANAGER_CACHE_NOT_SERVED_H_

#include "absl/status/status.h"
#include "manager/object/kind.h"

namespace mandate {

// The 404 of a list, in words that name the kind and the next step: the API server's own message
// names neither. Keeps the code and the payloads of `why`.
absl::Status NotServed(const KindInfo& kind, const absl::Status& why);

}  // namespace mandate

#endif  // MANAGER_CACHE_NOT_SERVED_H_
