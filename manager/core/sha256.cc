#include "manager/core/sha256.h"

#include <openssl/evp.h>
#include <openssl/sha.h>

#include <memory>

namespace mandate {

std::string Sha256(const std::vector<std::string_view>& parts) {
  const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                        EVP_MD_CTX_free);
  EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr);
  for (const std::string_view part : parts) {
    EVP_DigestUpdate(context.get(), part.data(), part.size());
  }
  std::string digest(SHA256_DIGEST_LENGTH, '\0');
  EVP_DigestFinal_ex(context.get(), reinterpret_cast<unsigned char*>(digest.data()), nullptr);
  return digest;
}

}  // namespace mandate
