#include "manager/transport/testing/test_pki.h"

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/str_join.h"

namespace mandate {
namespace {

template <auto kFree>
struct Deleter {
  template <class T>
  void operator()(T* pointer) const {
    kFree(pointer);
  }
};
using Key = std::unique_ptr<EVP_PKEY, Deleter<EVP_PKEY_free>>;
using Certificate = std::unique_ptr<X509, Deleter<X509_free>>;
using Bio = std::unique_ptr<BIO, Deleter<BIO_free_all>>;
using Extension = std::unique_ptr<X509_EXTENSION, Deleter<X509_EXTENSION_free>>;

void Check(bool ok, const char* what) {
  if (ok) return;
  std::fprintf(stderr, "OpenSSL failed: %s\n", what);
  std::abort();
}

Key NewKey() {
  Key key(EVP_EC_gen("P-256"));
  Check(key != nullptr, "EVP_EC_gen");
  return key;
}

template <class Write>
std::string ToPem(Write write) {
  const Bio bio(BIO_new(BIO_s_mem()));
  Check(bio != nullptr && write(bio.get()) == 1, "writing PEM");
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

std::string CertificatePem(X509* certificate) {
  return ToPem([certificate](BIO* bio) { return PEM_write_bio_X509(bio, certificate); });
}

void AddName(X509_NAME* name, const char* field, const std::string& value) {
  Check(X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                   reinterpret_cast<const unsigned char*>(value.data()),
                                   static_cast<int>(value.size()), -1, 0) == 1,
        "X509_NAME_add_entry_by_txt");
}

void AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  Check(extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1, value.c_str());
}

// Unsigned.
Certificate NewCertificate(EVP_PKEY* key, TestCa::Validity validity) {
  static std::atomic<long> serial = 1;
  Certificate certificate(X509_new());
  Check(certificate != nullptr, "X509_new");
  X509_set_version(certificate.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), validity.from);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), validity.until);
  Check(X509_set_pubkey(certificate.get(), key) == 1, "X509_set_pubkey");
  return certificate;
}

}  // namespace

struct TestCa::Keys {
  Key key;
  Certificate certificate;
};

TestCa::TestCa(const std::string& common_name) : keys_(std::make_unique<Keys>()) {
  keys_->key = NewKey();
  keys_->certificate = NewCertificate(keys_->key.get(), {});
  X509* certificate = keys_->certificate.get();
  AddName(X509_get_subject_name(certificate), "CN", common_name);
  X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
  AddExtension(certificate, certificate, NID_basic_constraints, "critical,CA:TRUE");
  AddExtension(certificate, certificate, NID_key_usage, "critical,keyCertSign,cRLSign");
  AddExtension(certificate, certificate, NID_subject_key_identifier, "hash");
  Check(X509_sign(certificate, keys_->key.get(), EVP_sha256()) != 0, "X509_sign");
  certificate_pem_ = CertificatePem(certificate);
}

TestCa::~TestCa() = default;

KeyPair TestCa::IssueServer(const std::vector<std::string>& subject_alternative_names) const {
  return IssueServer(subject_alternative_names, {});
}

KeyPair TestCa::IssueServer(const std::vector<std::string>& subject_alternative_names,
                            Validity validity) const {
  return Issue("test server", {}, subject_alternative_names, "serverAuth", validity);
}

KeyPair TestCa::IssueClient(const std::string& common_name,
                            const std::vector<std::string>& organisations) const {
  return Issue(common_name, organisations, {}, "clientAuth", {});
}

KeyPair TestCa::Issue(const std::string& common_name, const std::vector<std::string>& organisations,
                      const std::vector<std::string>& names, const char* usage,
                      Validity validity) const {
  const Key key = NewKey();
  const Certificate certificate = NewCertificate(key.get(), validity);
  X509_NAME* subject = X509_get_subject_name(certificate.get());
  for (const std::string& organisation : organisations) AddName(subject, "O", organisation);
  AddName(subject, "CN", common_name);
  X509* issuer = keys_->certificate.get();
  X509_set_issuer_name(certificate.get(), X509_get_subject_name(issuer));
  AddExtension(certificate.get(), issuer, NID_basic_constraints, "critical,CA:FALSE");
  AddExtension(certificate.get(), issuer, NID_key_usage, "critical,digitalSignature");
  AddExtension(certificate.get(), issuer, NID_ext_key_usage, usage);
  if (!names.empty()) {
    AddExtension(certificate.get(), issuer, NID_subject_alt_name, absl::StrJoin(names, ","));
  }
  Check(X509_sign(certificate.get(), keys_->key.get(), EVP_sha256()) != 0, "X509_sign");
  return {.certificate_pem = CertificatePem(certificate.get()),
          .key_pem = ToPem([&key](BIO* bio) {
            return PEM_write_bio_PrivateKey(bio, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

}  // namespace mandate
