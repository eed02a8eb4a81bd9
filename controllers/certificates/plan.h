// The certificates of webhooks: which authorities and which serving certificate a Secret should
// hold, and when it must be planned again. The plan is pure.
//
// A rotation never breaks a connection:
//   - a new authority is created when the newest one has a third of its life left, and API servers
//     trust it from then on (`bundle`), together with the old ones;
//   - serving certificates are issued by the oldest authority that all API servers trust and that
//     outlives them, so that a new authority has been trusted for long before it is used;
//   - an authority stays in the bundle until it expires.
//
// The Secret may hold what somebody else wrote. Its other keys are not kept. Its authorities are
// adopted only if they could be ours: with a P-256 key, and valid for no longer than
// CertificateLifetimes::authority from now on. So a forged authority is not trusted for longer than
// ours. A shorter CertificateLifetimes::authority replaces the authorities that are valid for
// longer at once, without an overlap. A serving certificate that is valid for longer than
// CertificateLifetimes::serving from now on serves until a trusted authority can issue another one.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace mandate::certificates {

// How long certificates are valid. Each is replaced when a third of this is left.
struct CertificateLifetimes {
  absl::Duration authority = absl::Hours(24 * 365);
  absl::Duration serving = absl::Hours(24 * 7);
};

// kInvalidArgument unless the serving life is at least a second, and the authority's life at least
// four times that: a serving certificate must not outlive an authority that is being replaced.
absl::Status CheckLifetimes(const CertificateLifetimes& lifetimes);

// The keys of a Secret.
inline constexpr char kAuthorities[] = "ca.crt";    // certificates in PEM, the oldest first
inline constexpr char kAuthorityKeys[] = "ca.key";  // their keys in PEM
inline constexpr char kServing[] = "tls.crt";       // the serving certificate
inline constexpr char kServingKey[] = "tls.key";    // its key
using SecretData = std::map<std::string, std::string>;

struct Snapshot {
  absl::Time now;
  // The content of the Secret. Invalid and expired parts of it are replaced.
  SecretData data;
  // The names of the serving certificate: "DNS:webhook.ns.svc", "IP:127.0.0.1".
  std::vector<std::string> names;
  CertificateLifetimes lifetimes;
  // Whether all API servers that call the webhooks trust the authority (its certificate in PEM).
  std::function<bool(std::string_view authority)> is_published;
};

struct Plan {
  // The keys above and no others: other keys of the Secret are to be removed. Equal to the
  // snapshot's if nothing is to be written.
  SecretData data;
  std::string bundle;  // the authorities to trust
  absl::Time next;     // when to plan again, if nothing changes before
  absl::Time authority_expiry;
  absl::Time serving_expiry;
  // Why authorities of the Secret that are valid now were not adopted: "it has …".
  std::vector<std::string> rejected;
};

// kInternal if a certificate cannot be created.
absl::StatusOr<Plan> PlanCertificates(const Snapshot& snapshot);

}  // namespace mandate::certificates
