// X.509 certificates with new P-256 keys (RFC 5280), and the facts of a certificate.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "manager/core/secret.h"

namespace mandate::x509 {

// A certificate and its private key, in PEM.
struct KeyPair {
  std::string certificate_pem;
  Secret key_pem;
};

enum class Use { kServer, kClient, kAuthority };

struct Request {
  Use use = Use::kServer;
  std::string common_name;
  std::vector<std::string> organisations = {};
  std::vector<std::string> names = {};  // "DNS:localhost", "IP:127.0.0.1"
  absl::Time not_before = {};           // in whole seconds
  absl::Time not_after = {};
};

// Issues a certificate with a new key and a random serial number, signed by the key of `issuer`, or
// by its own key if `issuer` is null. kInvalidArgument: the issuer is not a certificate with its
// key. kInternal: OpenSSL failed, for example because a name is not valid.
absl::StatusOr<KeyPair> Issue(const Request& request, const KeyPair* issuer);

struct Facts {
  absl::Time not_before;
  absl::Time not_after = {};
  bool is_authority = false;
  bool has_p256_key = false;  // as the certificates that Issue() makes
};

// The facts of the first certificate of the text. kInvalidArgument: it is not a certificate in PEM.
absl::StatusOr<Facts> ReadFacts(std::string_view certificate_pem);

// Whether the key of the certificate is `key_pem`. False also for text that is not PEM.
bool HasKey(std::string_view certificate_pem, const Secret& key_pem);
// Whether the certificate was signed by the key of the authority's certificate.
bool IsIssuedBy(std::string_view certificate_pem, std::string_view authority_pem);
// Whether the certificate is valid for the name, written as in Request::names.
bool IsFor(std::string_view certificate_pem, std::string_view name);

// The PEM blocks of the text, each from its BEGIN line to its END line. Other text is skipped.
std::vector<std::string> SplitPem(std::string_view text);

}  // namespace mandate::x509
