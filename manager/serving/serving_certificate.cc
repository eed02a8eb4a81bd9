#include "manager/serving/serving_certificate.h"

#include <utility>

#include "manager/core/read_file.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/core/x509.h"

namespace mandate {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

absl::StatusOr<std::string> ReadPem(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, size_t{4} << 20);
  if (!text.ok()) return absl::InvalidArgumentError(text.status().message());
  if (text->empty()) return absl::InvalidArgumentError(StrCat(path, " is empty"));
  return text;
}

std::shared_ptr<ssl::context> EmptyContext() {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
  return context;
}

// For ten years: no client verifies it, and it must not end while the manager runs.
absl::StatusOr<x509::KeyPair> SignForLocalhost(absl::Time now) {
  return x509::Issue({.common_name = "localhost",
                      .names = {"DNS:localhost", "IP:127.0.0.1"},
                      .not_before = now - absl::Hours(24),
                      .not_after = now + absl::Hours(24 * 3650)},
                     nullptr);
}

}  // namespace

absl::StatusOr<ServingCertificate::Pem> ServingCertificate::Read() const {
  ASSIGN_OR_RETURN(std::string certificate, ReadPem(StrCat(options_.dir, "/", options_.cert_name)));
  ASSIGN_OR_RETURN(std::string key, ReadPem(StrCat(options_.dir, "/", options_.key_name)));
  return Pem{std::move(certificate), Secret(std::move(key))};
}

absl::StatusOr<std::shared_ptr<ssl::context>> ServingCertificate::MakeContext(const Pem& pem) {
  std::shared_ptr<ssl::context> context = EmptyContext();
  error_code error;
  context->use_certificate_chain(boost::asio::buffer(pem.certificate), error);
  if (error) {
    return absl::InvalidArgumentError(StrCat("it is not a certificate in PEM: ", error.message()));
  }
  context->use_private_key(boost::asio::buffer(pem.key.Reveal().data(), pem.key.size()),
                           ssl::context::pem, error);
  if (error || SSL_CTX_check_private_key(context->native_handle()) != 1) {
    return absl::InvalidArgumentError(
        "the key is not a private key in PEM, or does not belong to the certificate");
  }
  return context;
}

absl::StatusOr<std::unique_ptr<ServingCertificate>> ServingCertificate::Create(Options options) {
  std::unique_ptr<ServingCertificate> made(new ServingCertificate(std::move(options)));
  MutexLock lock(made->mutex_);
  if (made->options_.dir.empty()) {
    ASSIGN_OR_RETURN(x509::KeyPair pair, SignForLocalhost(made->options_.clock->WallTimeNow()));
    RETURN_IF_ERROR(made->Take({std::move(pair.certificate_pem), std::move(pair.key_pem)}));
    return made;
  }
  absl::StatusOr<Pem> pem = made->Read();
  if (!pem.ok()) {
    return absl::InvalidArgumentError(StrCat(AsStd(pem.status().message()), "; the folder ",
                                             made->options_.dir, " must have a certificate ",
                                             made->options_.cert_name, " and its private key ",
                                             made->options_.key_name));
  }
  made->seen_ = *std::move(pem);
  if (const absl::Status taken = made->Take(*made->seen_); !taken.ok()) {
    return absl::InvalidArgumentError(StrCat(made->options_.dir, "/", made->options_.cert_name,
                                             " cannot be served: ", AsStd(taken.message())));
  }
  return made;
}

std::shared_ptr<ServingCertificate> ServingCertificate::WithoutCertificate(Logger log) {
  std::shared_ptr<ServingCertificate> made(new ServingCertificate({.log = std::move(log)}));
  MutexLock lock(made->mutex_);
  made->context_ = EmptyContext();
  return made;
}

absl::Status ServingCertificate::Take(const Pem& pem) {
  ASSIGN_OR_RETURN(context_, MakeContext(pem));
  has_certificate_ = true;
  return absl::OkStatus();
}

absl::Status ServingCertificate::Set(std::string certificate_pem, Secret key_pem) {
  MutexLock lock(mutex_);
  Pem pem{std::move(certificate_pem), std::move(key_pem)};
  if (seen_ == pem) return absl::OkStatus();
  RETURN_IF_ERROR(Take(pem));
  seen_ = std::move(pem);
  options_.log.Info("Serving a new certificate");
  return absl::OkStatus();
}

absl::Status ServingCertificate::Ready() const {
  MutexLock lock(mutex_);
  if (has_certificate_) return absl::OkStatus();
  return absl::UnavailableError("there is no serving certificate yet");
}

std::shared_ptr<ssl::context> ServingCertificate::Context() {
  MutexLock lock(mutex_);
  if (options_.dir.empty()) return context_;
  absl::StatusOr<Pem> pem = Read();
  if (!pem.ok() || *pem == *seen_) return context_;
  seen_ = *std::move(pem);
  if (const absl::Status taken = Take(*seen_); taken.ok()) {
    options_.log.Info("Serving a new certificate", {{"dir", options_.dir}});
  } else {
    options_.log.Error("A new certificate cannot be served",
                       {{"dir", options_.dir}, {"reason", taken}});
  }
  return context_;
}

}  // namespace mandate
