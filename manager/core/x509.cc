#include "manager/core/x509.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <cstdint>
#include <ctime>
#include <memory>
#include <utility>

#include "absl/strings/str_join.h"
#include "manager/core/strings.h"

namespace mandate::x509 {
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
// BIO_free_all wipes the memory, which may hold a key.
using Memory = std::unique_ptr<BIO, Free<BIO_free_all>>;

template <auto kRead>
auto ReadPem(std::string_view pem) {
  const Memory memory(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  // A passphrase, so that OpenSSL does not ask the terminal for that of an encrypted key.
  static char no_passphrase[] = "";
  auto* const read =
      memory == nullptr ? nullptr : kRead(memory.get(), nullptr, nullptr, no_passphrase);
  ERR_clear_error();
  return read;
}

Certificate ReadCertificate(std::string_view pem) {
  return Certificate(ReadPem<PEM_read_bio_X509>(pem));
}

Key ReadKey(const Secret& pem) { return Key(ReadPem<PEM_read_bio_PrivateKey>(pem.Reveal())); }

// Empty if `write` fails.
template <class Write>
std::string ToPem(Write write) {
  const Memory memory(BIO_new(BIO_s_mem()));
  if (memory == nullptr || write(memory.get()) != 1) return "";
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return std::string(data, static_cast<size_t>(size));
}

bool AddName(X509_NAME* name, const char* field, const std::string& value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

bool AddSubject(X509* certificate, const Request& request) {
  X509_NAME* const subject = X509_get_subject_name(certificate);
  for (const std::string& organisation : request.organisations) {
    if (!AddName(subject, "O", organisation)) return false;
  }
  return AddName(subject, "CN", request.common_name);
}

bool AddExtension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx_nodb(&context);
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str()));
  return extension != nullptr && X509_add_ext(certificate, extension.get(), -1) == 1;
}

bool AddExtensions(X509* certificate, X509* issuer, const Request& request) {
  const auto add = [&](int nid, const std::string& value) {
    return AddExtension(certificate, issuer, nid, value);
  };
  if (request.use == Use::kAuthority) {
    return add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
           add(NID_key_usage, "critical,keyCertSign,cRLSign") &&
           add(NID_subject_key_identifier, "hash");
  }
  return add(NID_basic_constraints, "critical,CA:FALSE") &&
         add(NID_key_usage, "critical,digitalSignature") &&
         add(NID_ext_key_usage, request.use == Use::kServer ? "serverAuth" : "clientAuth") &&
         (request.names.empty() || add(NID_subject_alt_name, absl::StrJoin(request.names, ",")));
}

bool SetSerial(X509* certificate) {
  uint64_t serial = 0;
  return RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial)) == 1 &&
         ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) == 1;
}

bool SetValidity(X509* certificate, const Request& request) {
  return ASN1_TIME_set(X509_getm_notBefore(certificate), absl::ToTimeT(request.not_before)) !=
             nullptr &&
         ASN1_TIME_set(X509_getm_notAfter(certificate), absl::ToTimeT(request.not_after)) !=
             nullptr;
}

bool IsP256(EVP_PKEY* key) {
  char group[32] = {};
  const bool is = key != nullptr && EVP_PKEY_is_a(key, "EC") == 1 &&
                  EVP_PKEY_get_group_name(key, group, sizeof(group), nullptr) == 1 &&
                  std::string_view(group) == SN_X9_62_prime256v1;
  ERR_clear_error();
  return is;
}

absl::Time ToTime(const ASN1_TIME* time) {
  std::tm fields = {};
  if (ASN1_TIME_to_tm(time, &fields) != 1) return absl::InfinitePast();
  return absl::FromTM(fields, absl::UTCTimeZone());
}

}  // namespace

absl::StatusOr<KeyPair> Issue(const Request& request, const KeyPair* issuer) {
  Certificate issuing;
  Key issuing_key;
  if (issuer != nullptr) {
    issuing = ReadCertificate(issuer->certificate_pem);
    issuing_key = ReadKey(issuer->key_pem);
    if (issuing == nullptr || issuing_key == nullptr ||
        X509_check_private_key(issuing.get(), issuing_key.get()) != 1) {
      ERR_clear_error();
      return absl::InvalidArgumentError("the issuer is not a certificate with its key, in PEM");
    }
  }
  const Key key(EVP_EC_gen("P-256"));
  const Certificate made(X509_new());
  X509* const certificate = made.get();
  X509* const parent = issuing == nullptr ? certificate : issuing.get();
  if (key == nullptr || certificate == nullptr ||
      X509_set_version(certificate, X509_VERSION_3) != 1 || !SetSerial(certificate) ||
      !SetValidity(certificate, request) || !AddSubject(certificate, request) ||
      X509_set_issuer_name(certificate, X509_get_subject_name(parent)) != 1 ||
      X509_set_pubkey(certificate, key.get()) != 1 ||
      !AddExtensions(certificate, parent, request) ||
      (issuing != nullptr && X509_get0_subject_key_id(parent) != nullptr &&
       !AddExtension(certificate, parent, NID_authority_key_identifier, "keyid:always")) ||
      X509_sign(certificate, issuing_key == nullptr ? key.get() : issuing_key.get(),
                EVP_sha256()) == 0) {
    ERR_clear_error();
    return absl::InternalError(
        StrCat("OpenSSL cannot create a certificate for ", request.common_name));
  }
  KeyPair pair{
      .certificate_pem = ToPem([&](BIO* out) { return PEM_write_bio_X509(out, certificate); }),
      .key_pem = Secret(ToPem([&](BIO* out) {
        return PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
      }))};
  if (pair.certificate_pem.empty() || pair.key_pem.empty()) {
    return absl::InternalError("OpenSSL cannot write a certificate in PEM");
  }
  return pair;
}

absl::StatusOr<Facts> ReadFacts(std::string_view certificate_pem) {
  const Certificate certificate = ReadCertificate(certificate_pem);
  if (certificate == nullptr) return absl::InvalidArgumentError("it is not a certificate in PEM");
  return Facts{.not_before = ToTime(X509_get0_notBefore(certificate.get())),
               .not_after = ToTime(X509_get0_notAfter(certificate.get())),
               .is_authority = X509_check_ca(certificate.get()) == 1,
               .has_p256_key = IsP256(X509_get0_pubkey(certificate.get()))};
}

bool HasKey(std::string_view certificate_pem, const Secret& key_pem) {
  const Certificate certificate = ReadCertificate(certificate_pem);
  const Key key = ReadKey(key_pem);
  const bool has = certificate != nullptr && key != nullptr &&
                   X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return has;
}

bool IsIssuedBy(std::string_view certificate_pem, std::string_view authority_pem) {
  const Certificate certificate = ReadCertificate(certificate_pem);
  const Certificate authority = ReadCertificate(authority_pem);
  const bool issued = certificate != nullptr && authority != nullptr &&
                      X509_verify(certificate.get(), X509_get0_pubkey(authority.get())) == 1;
  ERR_clear_error();
  return issued;
}

bool IsFor(std::string_view certificate_pem, std::string_view name) {
  const Certificate certificate = ReadCertificate(certificate_pem);
  if (certificate == nullptr) return false;
  const size_t colon = name.find(':');
  const std::string value(name.substr(colon == name.npos ? 0 : colon + 1));
  if (name.starts_with("IP:")) {
    return X509_check_ip_asc(certificate.get(), value.c_str(), 0) == 1;
  }
  return X509_check_host(certificate.get(), value.data(), value.size(), 0, nullptr) == 1;
}

std::vector<std::string> SplitPem(std::string_view text) {
  std::vector<std::string> blocks;
  for (size_t from = text.find("-----BEGIN "); from != text.npos;
       from = text.find("-----BEGIN ", from)) {
    const size_t end = text.find("-----END ", from);
    if (end == text.npos) break;
    const size_t line = text.find('\n', end);
    const size_t to = line == text.npos ? text.size() : line + 1;
    blocks.emplace_back(text.substr(from, to - from));
    from = to;
  }
  return blocks;
}

}  // namespace mandate::x509
