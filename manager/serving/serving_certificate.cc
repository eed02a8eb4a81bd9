#include "manager/serving/serving_certificate.h"

#include <utility>

#include "manager/core/read_file.h"
#include "manager/core/status_macros.h"
#include "manager/core/strings.h"
#include "manager/serving/self_signed.h"

namespace mandate {
namespace {

namespace ssl = boost::asio::ssl;
using boost::system::error_code;

absl::StatusOr<std::string> ReadPem(const std::string& path) {
  absl::StatusOr<std::string> text = ReadFile(path, size_t{4} << 20);
  if (!text.ok() || text->empty()) {
    return absl::InvalidArgumentError(StrCat(path, " cannot be read or is empty"));
  }
  return text;
}

}  // namespace

absl::StatusOr<ServingCertificate::Pem> ServingCertificate::Read() const {
  ASSIGN_OR_RETURN(std::string certificate, ReadPem(StrCat(options_.dir, "/", options_.cert_name)));
  ASSIGN_OR_RETURN(std::string key, ReadPem(StrCat(options_.dir, "/", options_.key_name)));
  return Pem{std::move(certificate), Secret(std::move(key))};
}

absl::StatusOr<std::shared_ptr<ssl::context>> ServingCertificate::MakeContext(const Pem& pem) {
  auto context = std::make_shared<ssl::context>(ssl::context::tls_server);
  SSL_CTX_set_min_proto_version(context->native_handle(), TLS1_2_VERSION);
  SSL_CTX_set_options(context->native_handle(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION);
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
    ASSIGN_OR_RETURN(SelfSigned self, MakeSelfSigned(made->options_.clock->WallTimeNow()));
    ASSIGN_OR_RETURN(made->context_, MakeContext({self.certificate_pem, std::move(self.key_pem)}));
    return made;
  }
  ASSIGN_OR_RETURN(made->seen_, made->Read());
  auto context = MakeContext(*made->seen_);
  if (!context.ok()) {
    return absl::InvalidArgumentError(
        StrCat(made->options_.dir, "/", made->options_.cert_name,
               " cannot be served: ", AsStd(context.status().message())));
  }
  made->context_ = *std::move(context);
  return made;
}

std::shared_ptr<ssl::context> ServingCertificate::Context() {
  MutexLock lock(mutex_);
  if (options_.dir.empty()) return context_;
  absl::StatusOr<Pem> pem = Read();
  if (!pem.ok() || *pem == *seen_) return context_;
  seen_ = *std::move(pem);
  auto context = MakeContext(*seen_);
  if (context.ok()) {
    context_ = *std::move(context);
    options_.log.Info("Serving a new certificate", {{"dir", options_.dir}});
  } else {
    options_.log.Error("A new certificate cannot be served",
                       {{"dir", options_.dir}, {"reason", context.status()}});
  }
  return context_;
}

}  // namespace mandate
