// The certificate of a server: from files that may change, or generated.
#ifndef MANAGER_SERVING_SERVING_CERTIFICATE_H_
#define MANAGER_SERVING_SERVING_CERTIFICATE_H_

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <optional>
#include <string>

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

  // kInvalidArgument: the message names the file that is missing or does not match, and says what
  // it must be.
  static absl::StatusOr<std::unique_ptr<ServingCertificate>> Create(Options options);

  // The context of a new connection, with TLS 1.2 or later. Reads the files each time. While they
  // do not match, as in the middle of a rotation, it uses the last pair that matched.
  std::shared_ptr<boost::asio::ssl::context> Context();

 private:
  struct Pem {
    std::string certificate;
    Secret key;
    bool operator==(const Pem&) const = default;
  };
  explicit ServingCertificate(Options options) : options_(std::move(options)) {}
  absl::StatusOr<Pem> Read() const;
  static absl::StatusOr<std::shared_ptr<boost::asio::ssl::context>> MakeContext(const Pem& pem);

  const Options options_;
  Mutex mutex_;
  // The files as they were last read, valid or not.
  std::optional<Pem> seen_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<boost::asio::ssl::context> context_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace mandate

#endif  // MANAGER_SERVING_SERVING_CERTIFICATE_H_
