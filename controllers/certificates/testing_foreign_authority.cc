#include "controllers/certificates/testing_foreign_authority.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace mandate::certificates {
namespace {

template <class Write>
std::string ToPem(Write write) {
  const std::unique_ptr<BIO, decltype(&BIO_free_all)> memory(BIO_new(BIO_s_mem()), BIO_free_all);
  write(memory.get());
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

}  // namespace

x509::KeyPair ForeignAuthority(ForeignKey kind, absl::Time now, absl::Time not_after) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      kind == ForeignKey::kP384 ? EVP_EC_gen("P-384") : EVP_RSA_gen(1024), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), X509_free);
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  ASN1_TIME_set(X509_getm_notBefore(made.get()), absl::ToTimeT(now - absl::Hours(1)));
  ASN1_TIME_set(X509_getm_notAfter(made.get()), absl::ToTimeT(not_after));
  X509_NAME* const name = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>("mandate-webhooks"), -1, -1, 0);
  X509_set_issuer_name(made.get(), name);
  X509_set_pubkey(made.get(), key.get());
  const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> authority(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE"),
      X509_EXTENSION_free);
  X509_add_ext(made.get(), authority.get(), -1);
  X509_sign(made.get(), key.get(), EVP_sha256());
  return {ToPem([&](BIO* out) { PEM_write_bio_X509(out, made.get()); }),
          Secret(ToPem([&](BIO* out) {
            PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          }))};
}

}  // namespace mandate::certificates
