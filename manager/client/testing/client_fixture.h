// A component's client on an identity registry, a fake transport and virtual time.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "manager/client/component_client.h"
#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/identity/identity_registry.h"
#include "manager/transport/testing/fake_transport.h"

namespace mandate {

inline constexpr std::string_view kEverything[] = {"*"};
inline constexpr rbac::MandateRule kEverythingRules[] = {
    {.rule = {.verbs = kEverything, .api_groups = kEverything, .resources = kEverything}}};
inline constexpr rbac::Mandate kNothing = {.component = "scope", .rules = {}};
inline constexpr rbac::Mandate kScope = {.component = "scope", .rules = kEverythingRules};

// An answer that asks to wait.
inline FakeReply Busy(int code, absl::Duration retry_after) {
  FakeReply reply = FakeReply::Json(code, "");
  reply.result->retry_after = retry_after;
  return reply;
}

struct ClientFixture : testing::Test {
  ClientFixture() {
    IdentityRegistry::Options o;
    o.loop = &loop;
    o.transport = &fake;
    ClusterConfig cluster{.name = "local", .endpoint = {}, .base = TokenFile{"/token"}, .ns = ""};
    cluster.endpoint.server = "https://local:6443";
    cluster.endpoint.ca_pem = "CA";
    o.clusters = {{cluster, {"scope"}}};
    o.ns = "mandate";
    o.version = "1";
    o.reader = [](const std::string&) { return "base-token"; };
    plane = *IdentityRegistry::Create(std::move(o));
    options.loop = &loop;
    options.transport = &fake;
    options.identity = *plane->Component("local", "scope");
    options.mandate = &kScope;
    options.metrics = &metrics;
    fake.Handle([this](const HttpRequest& request) {
      if (request.target.ends_with("/token") && request.method == "POST") return Mint();
      return server ? server(request) : FakeReply::Json(200, "{}");
    });
  }

  FakeReply Mint() {
    if (mint_error.has_value()) return *mint_error;
    return FakeReply::Json(
        201, StrCat(R"({"spec":{"expirationSeconds":3600},"status":{"token":"scope-)", ++minted,
                    R"("}})"));
  }

  ComponentClient& client() {
    if (owned == nullptr) owned = *ComponentClient::Create(options);
    return *owned;
  }

  using Result = absl::StatusOr<HttpResponse>;
  CallContext In(absl::Duration d) { return {.deadline = loop.clock().TimeNow() + d, .stop = {}}; }
  Result Send(RestRequest request, absl::Duration timeout = absl::Seconds(20)) {
    std::optional<Result> result;
    const absl::Time start = loop.clock().TimeNow();
    client().Send(In(timeout), std::move(request), [&](Result r) {
      EXPECT_FALSE(result.has_value());
      result = std::move(r);
    });
    EXPECT_FALSE(result.has_value()) << "answered inside Send()";
    EXPECT_TRUE(loop.RunUntil([&] { return result.has_value(); }));
    took = loop.clock().TimeNow() - start;
    return *std::move(result);
  }
  static RestRequest Get(std::string target = "/api/v1/namespaces/foo/pods/web") {
    RestRequest request;
    request.method = "GET";
    request.target = std::move(target);
    return request;
  }
  static RestRequest Post() {
    RestRequest request;
    request.method = "POST";
    request.target = "/api/v1/namespaces/foo/pods";
    request.body = "{}";
    return request;
  }
  // All requests except token requests.
  size_t Sent() const { return fake.requests().size() - TokenRequests(); }
  size_t TokenRequests() const {
    return fake.CountRequests("POST", "/api/v1/namespaces/mandate/serviceaccounts/");
  }
  // The labels of each series of the client.
  static Labels Of(Labels more = {}) {
    more.emplace("cluster", "local");
    more.emplace("identity", "scope");
    return more;
  }
  double Counted(const std::string& code, const std::string& method) {
    return metrics
        .Counter("rest_client_requests_total", "Number of HTTP requests, by code, method and host.",
                 Of({{"code", code}, {"method", method}, {"host", "https://local:6443"}}))
        .Value();
  }
  double Met(const std::string& bound) {
    return metrics.Counter("mandate_client_limit_reached_total", "", Of({{"limit", bound}}))
        .Value();
  }
  double Retries(const std::string& reason) {
    return metrics.Counter("mandate_client_retries_total", "", Of({{"reason", reason}})).Value();
  }
  double Level(const std::string& name) {
    return metrics.Gauge("mandate_client_" + name, "", Of()).Value();
  }

  SimulatedLoop loop;
  FakeTransport fake{loop};
  Metrics metrics;
  std::unique_ptr<IdentityRegistry> plane;
  ComponentClient::Options options;
  std::unique_ptr<ComponentClient> owned;
  std::function<FakeReply(const HttpRequest&)> server;
  std::optional<FakeReply> mint_error;
  int minted = 0;
  absl::Duration took;
};

}  // namespace mandate
