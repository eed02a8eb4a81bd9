// The certificate of a server: from files that may change, generated, or set by another part of the
// program.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "manager/core/clock.h"
#include "manager/core/log.h"
#include "manager/core/mutex.h"
#include "manager/core/secret.h"

namespace mandate {

// Thread-safe.
class ServingCertificate {
 public:
  struct Options {
    // A folder with the two files, such as a mounted Secret. If empty, the certificate is
    // self-signed for localhost: the connection is encrypted, but clients cannot verify the
    // certificate.
    std::string dir = {};
    std::string cert_name = "tls.crt";  // PEM: the certificate, then its issuers
    std::string key_name = "tls.key";   // PEM
    const Clock* clock = &Clock::Real();
    Logger log = {};
  };

  // kInvalidArgument: the message names the file that cannot be read or that does not match the
  // other one, and the reason.
  static absl::StatusOr<std::unique_ptr<ServingCertificate>> Create(Options options);

  // Without a certificate until Set(): every handshake fails.
  static std::shared_ptr<ServingCertificate> WithoutCertificate(Logger log);

  // The certificate of new connections from now on. kInvalidArgument: it is not a certificate with
  // its key, in PEM; the former one is kept.
  absl::Status Set(std::string certificate_pem, Secret key_pem);

  // OK, or kUnavailable if there is no certificate yet.
  absl::Status Ready() const;

  // The context of a new connection, with TLS 1.2 or later; never null. Reads the files each time.
  // While they do not match, as in the middle of a rotation, it uses the last pair that matched.
  std::shared_ptr<boost::asio::ssl::context> Context();

 private:
  struct Pem {
    std::string certificate;
    Secret key;
    bool operator==(const Pem&) const = default;
  };
  explicit ServingCertificate(Options options) : options_(std::move(options)) {}
  absl::StatusOr<Pem> Read() const;
  // Serves `pem` from now on if it is valid.
  absl::Status Take(const Pem& pem) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> MakeContext(const Pem& pem);

  const Options options_;
  mutable Mutex mutex_;
  // The certificate as it was last read or set, valid or not.
  std::optional<Pem> seen_ ABSL_GUARDED_BY(mutex_);
  bool has_certificate_ ABSL_GUARDED_BY(mutex_) = false;
  std::shared_ptr<boost::asio::ssl::context> context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate
