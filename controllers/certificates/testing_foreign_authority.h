// Authorities that the component would not make, for tests.
#pragma once

#include "absl/time/time.h"
#include "manager/core/x509.h"

namespace mandate::certificates {

enum class ForeignKey { kRsa1024, kP384 };

// A self-signed authority with such a key, valid from an hour before `now`.
x509::KeyPair ForeignAuthority(ForeignKey kind, absl::Time now, absl::Time not_after);

}  // namespace mandate::certificates
