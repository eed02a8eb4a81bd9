// A self-signed certificate, for a server that clients do not verify.
#ifndef MANAGER_SERVING_SELF_SIGNED_H_
#define MANAGER_SERVING_SELF_SIGNED_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/secret.h"

namespace mandate {

struct SelfSigned {
  std::string certificate_pem;
  Secret key_pem;
};

// For localhost and 127.0.0.1, with a new P-256 key, valid for ten years from a day before `now`.
// kInternal: OpenSSL failed.
absl::StatusOr<SelfSigned> MakeSelfSigned(absl::Time now);

}  // namespace mandate

#endif  // MANAGER_SERVING_SELF_SIGNED_H_
