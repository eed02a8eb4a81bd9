#include "manager/serving/self_signed.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <memory>
#include <utility>

namespace mandate {
namespace {

template <auto kFree>
struct Free {
  template <class T>
  void operator()(T* object) const {
    kFree(object);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Extension = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;
using Memory = std::unique_ptr<BIO, Free<BIO_free>>;

bool Extend(X509* certificate, int nid, const char* value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, certificate, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

std::string Text(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return std::string(data, static_cast<size_t>(size));
}

}  // namespace

absl::StatusOr<SelfSigned> MakeSelfSigned(absl::Time now) {
  const auto failed = [] { return absl::InternalError("OpenSSL cannot create a certificate"); };
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  uint64_t serial = 0;
  if (key == nullptr || certificate == nullptr ||
      RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) != 1) {
    return failed();
  }
  X509* const c = certificate.get();
  X509_NAME* const name = X509_get_subject_name(c);
  if (X509_set_version(c, X509_VERSION_3) != 1 ||
      ASN1_INTEGER_set_uint64(X509_get_serialNumber(c), serial >> 1) != 1 ||
      ASN1_TIME_set(X509_getm_notBefore(c), absl::ToTimeT(now - absl::Hours(24))) == nullptr ||
      ASN1_TIME_set(X509_getm_notAfter(c), absl::ToTimeT(now + absl::Hours(24 * 3650))) ==
          nullptr ||
      X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                 reinterpret_cast<const unsigned char*>("localhost"), -1, -1,
                                 0) != 1 ||
      X509_set_issuer_name(c, name) != 1 || X509_set_pubkey(c, key.get()) != 1 ||
      !Extend(c, NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1") ||
      !Extend(c, NID_key_usage, "critical,digitalSignature") ||
      !Extend(c, NID_ext_key_usage, "serverAuth") || X509_sign(c, key.get(), EVP_sha256()) == 0) {
    return failed();
  }
  const Memory certificate_pem(BIO_new(BIO_s_mem()));
  const Memory key_pem(BIO_new(BIO_s_mem()));
  if (PEM_write_bio_X509(certificate_pem.get(), c) != 1 ||
      PEM_write_bio_PrivateKey(key_pem.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return failed();
  }
  return SelfSigned{.certificate_pem = Text(certificate_pem.get()),
                    .key_pem = Secret(Text(key_pem.get()))};
}

}  // namespace mandate
