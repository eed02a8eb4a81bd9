#include "manager/transport/pool_key.h"

#include <openssl/evp.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>

namespace mandate {
namespace {

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new()) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }

  void Add(std::string_view field) {
    const uint64_t size = field.size();
    EVP_DigestUpdate(context_.get(), &size, sizeof size);
    EVP_DigestUpdate(context_.get(), field.data(), field.size());
  }

  std::string Finish() {
    std::array<unsigned char, EVP_MAX_MD_SIZE> bytes;
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), bytes.data(), &size);
    return std::string(reinterpret_cast<const char*>(bytes.data()), size);
  }

 private:
  struct Deleter {
    void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
  };
  std::unique_ptr<EVP_MD_CTX, Deleter> context_;
};

}  // namespace

std::string PoolKeyOf(const HttpRequest& request) {
  const Endpoint& endpoint = *request.endpoint;
  Digest digest;
  digest.Add(endpoint.server);
  digest.Add(endpoint.ca_pem);
  digest.Add(endpoint.tls_server_name);
  digest.Add(endpoint.proxy);
  if (std::holds_alternative<EndpointCertificate>(request.credential)) {
    digest.Add(endpoint.client_certificate->certificate_pem);
    digest.Add(endpoint.client_certificate->key_pem->Reveal());
  }
  return digest.Finish();
}

}  // namespace mandate
