#include "manager/transport/pool_key.h"

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace mandate {
namespace {

std::shared_ptr<const Secret> MakeSecret(std::string value) {
  return std::make_shared<const Secret>(std::move(value));
}

Endpoint BaseEndpoint() {
  Endpoint endpoint;
  endpoint.server = "https://10.0.0.1:6443";
  endpoint.ca_pem = "ca";
  endpoint.client_certificate = ClientCertificate{"certificate", MakeSecret("key")};
  return endpoint;
}

std::string Key(Endpoint endpoint, Credential credential) {
  return PoolKeyOf(HttpRequest(std::make_shared<const Endpoint>(std::move(endpoint)),
                               std::move(credential), "GET", "/"));
}

TEST(PoolKey, TokensShare) {
  EXPECT_EQ(Key(BaseEndpoint(), BearerToken{MakeSecret("a")}),
            Key(BaseEndpoint(), BearerToken{MakeSecret("b")}));
}

TEST(PoolKey, ATokenNeverSharesWithACertificateOfTheSameEndpoint) {
  EXPECT_NE(Key(BaseEndpoint(), BearerToken{MakeSecret("a")}),
            Key(BaseEndpoint(), EndpointCertificate{}));
}

TEST(PoolKey, ATokensKeyIgnoresTheEndpointsCertificate) {
  Endpoint without = BaseEndpoint();
  without.client_certificate.reset();
  EXPECT_EQ(Key(without, BearerToken{MakeSecret("a")}),
            Key(BaseEndpoint(), BearerToken{MakeSecret("a")}));
}

TEST(PoolKey, ThePathOfTheCaIsNotPartOfTheKey) {
  Endpoint from_file = BaseEndpoint();
  from_file.ca_file = "/ca.crt";
  EXPECT_EQ(Key(from_file, EndpointCertificate{}), Key(BaseEndpoint(), EndpointCertificate{}));
}

TEST(PoolKey, EveryPartOfTheTlsIdentityCounts) {
  const std::vector<std::pair<const char*, std::function<void(Endpoint&)>>> changes = {
      {"server", [](Endpoint& e) { e.server = "https://10.0.0.2:6443"; }},
      {"CA", [](Endpoint& e) { e.ca_pem = "rotated"; }},
      {"server name", [](Endpoint& e) { e.tls_server_name = "kubernetes"; }},
      {"proxy", [](Endpoint& e) { e.proxy = "http://10.0.0.3:3128"; }},
      {"boundary", [](Endpoint& e) { e.server += "ca", e.ca_pem = ""; }},
      {"certificate", [](Endpoint& e) { e.client_certificate->certificate_pem = "other"; }},
      {"key", [](Endpoint& e) { e.client_certificate->key_pem = MakeSecret("other"); }},
  };
  const std::string base = Key(BaseEndpoint(), EndpointCertificate{});
  EXPECT_EQ(base, Key(BaseEndpoint(), EndpointCertificate{}));
  for (const auto& [name, change] : changes) {
    Endpoint endpoint = BaseEndpoint();
    change(endpoint);
    EXPECT_NE(Key(endpoint, EndpointCertificate{}), base) << name;
  }
}

}  // namespace
}  // namespace mandate
