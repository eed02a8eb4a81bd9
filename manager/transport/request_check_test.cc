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

struct BadRequest {
  const char* name;
  std::function<void(HttpRequest&)> spoil;
  const char* message;
};

class RequestCheckRejects : public ::testing::TestWithParam<BadRequest> {};

TEST_P(RequestCheckRejects, InvalidRequests) {
  HttpRequest request = GoodRequest();
  GetParam().spoil(request);
  const absl::Status status = CheckRequest(request);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr(GetParam().message));
  EXPECT_FALSE(absl::StrContains(status.message(), "the.token"));
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
  EXPECT_THAT(std::string(status.message()), HasSubstr("has none"));
}

INSTANTIATE_TEST_SUITE_P(
    Table, RequestCheckRejects,
    ::testing::Values(
        BadRequest{"NoEndpoint", [](auto& r) { r.endpoint = nullptr; }, "no endpoint"},
        BadRequest{"PlainHttp",
                   [](auto& r) { SetEndpoint(r, [](auto& e) { e.server = "http://a"; }); },
                   "https://HOST"},
        BadRequest{"TrailingSlash",
                   [](auto& r) { SetEndpoint(r, [](auto& e) { e.server = "https://a/"; }); },
                   "https://HOST"},
        BadRequest{"UserInfo",
                   [](auto& r) { SetEndpoint(r, [](auto& e) { e.server = "https://u:p@a"; }); },
                   "https://HOST"},
        BadRequest{"NoCa", [](auto& r) { SetEndpoint(r, [](auto& e) { e.ca_pem = ""; }); },
                   "no CA certificate"},
        BadRequest{"TlsToTheProxy",
                   [](auto& r) { SetEndpoint(r, [](auto& e) { e.proxy = "https://p:1"; }); },
                   "http://HOST:PORT"},
        BadRequest{
            "ProxyWithAPassword",
            [](auto& r) { SetEndpoint(r, [](auto& e) { e.proxy = "http://u:the.token@p"; }); },
            "without a user"},
        BadRequest{"NullToken", [](auto& r) { r.credential = BearerToken{}; }, "empty"},
        BadRequest{"EmptyToken", [](auto& r) { r.credential = Bearer(""); }, "empty"},
        BadRequest{"TokenWithNewline", [](auto& r) { r.credential = Bearer("the.token\n"); },
                   "line break"},
        BadRequest{"NoSuchCertificate", [](auto& r) { r.credential = EndpointCertificate{}; },
                   "has none"},
        BadRequest{"NoMethod", [](auto& r) { r.method = ""; }, "HTTP method"},
        BadRequest{"MethodWithSpace", [](auto& r) { r.method = "GET /"; }, "HTTP method"},
        BadRequest{"RelativeTarget", [](auto& r) { r.target = "api"; }, "request target"},
        BadRequest{"TargetWithBreak", [](auto& r) { r.target = "/a\r\nX: y"; }, "request target"},
        BadRequest{"TargetWithSpace", [](auto& r) { r.target = "/a b"; }, "request target"},
        BadRequest{"TargetWithFragment", [](auto& r) { r.target = "/a#b"; }, "request target"},
        BadRequest{"GetWithBody",
                   [](auto& r) {
                     r.body = "{}";
                     r.content_type = "application/json";
                   },
                   "no body"},
        BadRequest{"BodyOfNoType",
                   [](auto& r) {
                     r.method = "POST";
                     r.body = "{}";
                   },
                   "no content type"},
        BadRequest{"UserAgentWithBreak", [](auto& r) { r.user_agent = "a\nb"; }, "control"},
        BadRequest{"AcceptWithBreak", [](auto& r) { r.accept = "a\rb"; }, "control"},
        BadRequest{"HeaderNameWithColon",
                   [](auto& r) {
                     r.headers = {{"A:", "b"}};
                   },
                   "malformed"},
        BadRequest{"HeaderValueWithBreak",
                   [](auto& r) {
                     r.headers = {{"A", "b\r\nc"}};
                   },
                   "malformed"},
        BadRequest{"SecondCredential",
                   [](auto& r) {
                     r.headers = {{"aUTHorization", "Bearer x"}};
                   },
                   "exactly its credential"},
        BadRequest{"SecondUserAgent",
                   [](auto& r) {
                     r.headers = {{"User-Agent", "x"}};
                   },
                   "exactly its credential"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace mandate
