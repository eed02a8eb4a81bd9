#include "manager/transport/request_check.h"

#include <functional>
#include <memory>
#include <string>

#include "absl/strings/match.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace mandate {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

HttpRequest GoodRequest() {
  auto endpoint = std::make_shared<Endpoint>();
  endpoint->server = "https://127.0.0.1:6443";
  endpoint->ca_pem = "a CA";
  return HttpRequest(std::move(endpoint),
                     BearerToken{std::make_shared<const Secret>(std::string("the.token"))}, "GET",
                     "/api/v1/namespaces?limit=500");
}

void SetEndpoint(HttpRequest& request, const std::function<void(Endpoint&)>& change) {
  auto endpoint = std::make_shared<Endpoint>(*request.endpoint);
  change(*endpoint);
  request.endpoint = std::move(endpoint);
}

BearerToken Bearer(std::string value) {
  return BearerToken{std::make_shared<const Secret>(std::move(value))};
}

TEST(RequestCheck, AcceptsAProperRequest) {
  HttpRequest request = GoodRequest();
  request.user_agent = "mandate-manager/1 (linux/amd64) scope-instance";
  request.headers.emplace_back("Impersonate-User", "system:serviceaccount:a:b");
  EXPECT_TRUE(CheckRequest(request).ok()) << CheckRequest(request);

  SetEndpoint(request, [](Endpoint& endpoint) {
    endpoint.client_certificate =
        ClientCertificate{"cert", std::make_shared<const Secret>(std::string("key"))};
  });
  request.credential = EndpointCertificate{};
  EXPECT_TRUE(CheckRequest(request).ok()) << CheckRequest(request);
}

TEST(RequestCheck, RejectsInvalidRequests) {
  struct Draft {
    HttpRequest& request;
    Endpoint& endpoint;
  };
  const struct {
    const char* name;
    void (*spoil)(Draft);
    const char* message;
  } rows[] = {
      {"NoEndpoint", [](Draft d) { d.request.endpoint = nullptr; }, "no endpoint"},
      {"PlainHttp", [](Draft d) { d.endpoint.server = "http://a"; }, "https://HOST"},
      {"TrailingSlash", [](Draft d) { d.endpoint.server = "https://a/"; }, "https://HOST"},
      {"UserInfo", [](Draft d) { d.endpoint.server = "https://u:p@a"; }, "https://HOST"},
      {"NoCa", [](Draft d) { d.endpoint.ca_pem = ""; }, "no CA certificate"},
      {"TlsToTheProxy", [](Draft d) { d.endpoint.proxy = "https://p:1"; }, "http://HOST:PORT"},
      {"ProxyWithAPassword", [](Draft d) { d.endpoint.proxy = "http://u:the.token@p"; },
       "without a user"},
      {"NullToken", [](Draft d) { d.request.credential = BearerToken{}; }, "empty"},
      {"EmptyToken", [](Draft d) { d.request.credential = Bearer(""); }, "empty"},
      {"TokenWithNewline", [](Draft d) { d.request.credential = Bearer("the.token\n"); },
       "line break"},
      {"NoSuchCertificate", [](Draft d) { d.request.credential = EndpointCertificate{}; },
       "no client certificate"},
      {"NoMethod", [](Draft d) { d.request.method = ""; }, "HTTP method"},
      {"MethodWithSpace", [](Draft d) { d.request.method = "GET /"; }, "HTTP method"},
      {"RelativeTarget", [](Draft d) { d.request.target = "api"; }, "request target"},
      {"TargetWithBreak", [](Draft d) { d.request.target = "/a\r\nX: y"; }, "request target"},
      {"TargetWithSpace", [](Draft d) { d.request.target = "/a b"; }, "request target"},
      {"TargetWithFragment", [](Draft d) { d.request.target = "/a#b"; }, "request target"},
      {"GetWithBody",
       [](Draft d) {
         d.request.body = "{}";
         d.request.content_type = "application/json";
       },
       "no body"},
      {"BodyOfNoType",
       [](Draft d) {
         d.request.method = "POST";
         d.request.body = "{}";
       },
       "no content type"},
      {"UserAgentWithBreak", [](Draft d) { d.request.user_agent = "a\nb"; }, "control"},
      {"AcceptWithBreak", [](Draft d) { d.request.accept = "a\rb"; }, "control"},
      {"HeaderNameWithColon", [](Draft d) { d.request.headers.emplace_back("A:", "b"); },
       "malformed"},
      {"HeaderValueWithBreak", [](Draft d) { d.request.headers.emplace_back("A", "b\r\nc"); },
       "malformed"},
      {"SecondCredential",
       [](Draft d) { d.request.headers.emplace_back("aUTHorization", "Bearer x"); },
       "belongs to the request's credential"},
      {"SecondUserAgent", [](Draft d) { d.request.headers.emplace_back("User-Agent", "x"); },
       "belongs to the request's credential"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.name);
    HttpRequest request = GoodRequest();
    const auto endpoint = std::make_shared<Endpoint>(*request.endpoint);
    request.endpoint = endpoint;
    row.spoil({request, *endpoint});
    const absl::Status status = CheckRequest(request);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(row.message));
    EXPECT_FALSE(absl::StrContains(status.message(), "the.token"));
  }
}

TEST(RequestCheck, APasswordInTheAddressIsNotPrinted) {
  HttpRequest request = GoodRequest();
  SetEndpoint(request, [](Endpoint& endpoint) { endpoint.server = "https://user:secret@host"; });
  const std::string message(CheckRequest(request).message());
  EXPECT_THAT(message, HasSubstr("https://***@host"));
  EXPECT_THAT(message, Not(HasSubstr("secret")));
}

TEST(RequestCheck, ACertificateNeedsItsKey) {
  HttpRequest request = GoodRequest();
  request.credential = EndpointCertificate{};
  EXPECT_EQ(CheckRequest(request).code(), absl::StatusCode::kInvalidArgument);
  SetEndpoint(request, [](Endpoint& endpoint) {
    endpoint.client_certificate = ClientCertificate{"cert", nullptr};
  });
  const absl::Status status = CheckRequest(request);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("no client certificate"));
}

}  // namespace
}  // namespace mandate
