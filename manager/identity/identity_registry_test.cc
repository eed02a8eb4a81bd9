#include "manager/identity/identity_registry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "manager/core/strings.h"
#include "manager/core/testing/simulated_loop.h"
#include "manager/transport/testing/fake_transport.h"

namespace mandate {

class BaseAccessForTest {
 public:
  static BaseAccess Make() { return BaseAccess(); }
};

namespace {

using ::testing::HasSubstr;

// No other code can make a BaseAccess, or copy an identity.
static_assert(!std::is_default_constructible_v<BaseAccess>);
static_assert(!std::is_aggregate_v<BaseAccess>);
static_assert(!std::is_copy_constructible_v<ComponentIdentity>);
static_assert(!std::is_convertible_v<BaseIdentity&, ComponentIdentity&>);

struct IdentityRegistryTest : testing::Test {
  IdentityRegistryTest() {
    options.loop = &loop;
    options.transport = &fake;
    options.clusters = {{Cluster("local"), {"scope-instance", "scope-template"}}};
    options.ns = "mandate";
    options.version = "1.2.3";
    options.reader = [](const std::string&) { return "base-token"; };
    fake.Handle([](const HttpRequest& request) {
      const size_t at = request.target.find("mandate-manager-");
      return FakeReply::Json(
          201, StrCat(R"({"spec":{"expirationSeconds":3600},"status":{"token":")",
                      request.target.substr(at, request.target.rfind('/') - at), R"("}})"));
    });
  }

  static ClusterConfig Cluster(std::string name) {
    ClusterConfig config{.name = name, .endpoint = {}, .base = TokenFile{"/token"}, .ns = ""};
    config.endpoint.server = StrCat("https://", name, ":6443");
    config.endpoint.ca_pem = "CA";
    return config;
  }
  std::unique_ptr<IdentityRegistry> Make() {
    auto registry = IdentityRegistry::Create(options);
    EXPECT_TRUE(registry.ok()) << registry.status();
    return *std::move(registry);
  }
  std::unique_ptr<IdentityRegistry> Started() {
    auto registry = Make();
    registry->Start();
    loop.RunFor(absl::Seconds(1));
    return registry;
  }

  SimulatedLoop loop;
  FakeTransport fake{loop};
  IdentityRegistry::Options options;
};

TEST_F(IdentityRegistryTest, EachComponentHasOneIdentity) {
  auto registry = Make();
  ComponentIdentity* one = *registry->Component("local", "scope-instance");
  ComponentIdentity* two = *registry->Component("local", "scope-template");
  EXPECT_EQ(*registry->Component("local", "scope-instance"), one);
  EXPECT_NE(one, two);
  EXPECT_NE(one->tokens(), two->tokens());
  EXPECT_EQ(one->service_account(), "mandate-manager-scope-instance");
  EXPECT_EQ(one->username(), "system:serviceaccount:mandate:mandate-manager-scope-instance");
  EXPECT_THAT(
      one->user_agent(),
      testing::MatchesRegex(R"(mandate-manager/1\.2\.3 \(linux/[a-z0-9]+\) scope-instance)"));
  EXPECT_EQ(one->endpoint()->server, "https://local:6443");
}

TEST_F(IdentityRegistryTest, AnUnknownOrEmptyComponentIsAnErrorAndNeverBase) {
  auto registry = Make();
  EXPECT_EQ(registry->Component("local", "").status().code(), absl::StatusCode::kInvalidArgument);
  for (const char* name : {"scope", "base", "mandate-manager", "scope-instance "}) {
    EXPECT_EQ(registry->Component("local", name).status().code(), absl::StatusCode::kNotFound)
        << name;
  }
  EXPECT_THAT(std::string(registry->Component("local", "x").status().message()),
              HasSubstr("scope-instance, scope-template"));
  EXPECT_EQ(registry->Component("", "scope-instance").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(registry->Component("other", "scope-instance").status().code(),
            absl::StatusCode::kNotFound);
}

TEST_F(IdentityRegistryTest, IdentitiesAreKeyedByClusterAndComponent) {
  options.clusters.push_back({Cluster("leaf"), {"scope-instance", "scope-leaf"}});
  auto registry = Make();
  ComponentIdentity* here = *registry->Component("local", "scope-instance");
  ComponentIdentity* there = *registry->Component("leaf", "scope-instance");
  EXPECT_NE(here, there);
  EXPECT_NE(here->tokens(), there->tokens());
  EXPECT_EQ(there->endpoint()->server, "https://leaf:6443");
  // Each cluster has its own components.
  EXPECT_TRUE(registry->Component("leaf", "scope-leaf").ok());
  const absl::Status elsewhere = registry->Component("local", "scope-leaf").status();
  EXPECT_EQ(elsewhere.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(elsewhere.message()), HasSubstr("known: scope-instance, scope-template"));
}

TEST_F(IdentityRegistryTest, AClusterThatAnswersNothingTakesNoPlaceOfAnother) {
  Metrics metrics;
  options.metrics = &metrics;
  options.max_token_requests = 1;
  // The first in the order in which they begin.
  options.clusters.push_back({Cluster("away"), {"mirror"}});
  fake.Handle([](const HttpRequest& request) {
    if (request.endpoint->server == "https://away:6443") return FakeReply::Never();
    return FakeReply::Json(201, R"({"spec":{"expirationSeconds":3600},"status":{"token":"t"}})");
  });
  auto registry = Started();
  EXPECT_TRUE(registry->Status(**registry->Component("local", "scope-instance")).usable);
  EXPECT_TRUE(registry->Status(**registry->Component("local", "scope-template")).usable);
  EXPECT_FALSE(registry->Status(**registry->Component("away", "mirror")).usable);
  const auto in_flight = [&](const Labels& labels) {
    return metrics.Gauge("mandate_token_requests_in_flight", "", labels).Value();
  };
  EXPECT_EQ(in_flight({}), 0);
  EXPECT_EQ(in_flight({{"cluster", "away"}}), 1);
}

TEST_F(IdentityRegistryTest, TokensAreRequestedByBaseForTheComponentsServiceAccount) {
  Metrics metrics;
  options.metrics = &metrics;
  std::vector<std::string> heard;
  options.listener = [&](const ComponentIdentity& identity, const TokenStatus& status) {
    if (status.usable) heard.push_back(identity.name());
  };
  auto registry = Started();
  ComponentIdentity* one = *registry->Component("local", "scope-instance");
  EXPECT_TRUE(registry->Status(*one).usable);
  EXPECT_EQ(one->tokens()->Cached()->value->Reveal(), "mandate-manager-scope-instance");
  EXPECT_THAT(heard, testing::UnorderedElementsAre("scope-instance", "scope-template"));
  ASSERT_EQ(fake.requests().size(), 2u);
  for (const RecordedRequest& request : fake.requests()) {
    EXPECT_EQ(request.token, "base-token");
    EXPECT_THAT(request.user_agent, testing::EndsWith(")")) << "base has no component";
    EXPECT_EQ(request.method, "POST");
    EXPECT_THAT(request.target, HasSubstr("/api/v1/namespaces/mandate/serviceaccounts/"));
  }
  EXPECT_EQ(
      metrics
          .Counter("mandate_token_requests_total", "",
                   {{"cluster", "local"}, {"identity", "scope-instance"}, {"outcome", "issued"}})
          .Value(),
      1);
}

TEST_F(IdentityRegistryTest, ItsBoundsAreMetrics) {
  Metrics metrics;
  options.metrics = &metrics;
  options.max_token_requests = 1;
  auto registry = Make();
  registry->Start();
  ComponentIdentity* one = *registry->Component("local", "scope-instance");
  one->tokens()->Fetch({}, [](absl::StatusOr<std::shared_ptr<const Token>>) {});
  const Labels whose = {{"cluster", "local"}, {"identity", "scope-instance"}};
  const auto level = [&](const char* name, const Labels& labels) {
    return metrics.Gauge(name, "", labels).Value();
  };
  EXPECT_EQ(level("mandate_token_waiters", whose), 1);
  EXPECT_EQ(level("mandate_token_requests_in_flight", {}), 1);
  EXPECT_EQ(level("mandate_token_requests_queue", {}), 1);
  EXPECT_EQ(
      metrics.Counter("mandate_token_limit_reached_total", "", {{"limit", "requests"}}).Value(), 1);
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(level("mandate_token_waiters", whose), 0);
  EXPECT_EQ(level("mandate_token_requests_in_flight", {}), 0);
  EXPECT_EQ(level("mandate_token_requests_queue", {}), 0);
}

TEST_F(IdentityRegistryTest, BaseMayUseAnExecPlugin) {
  for (const bool certificate : {false, true}) {
    SCOPED_TRACE(certificate);
    options.clusters[0].config.base =
        ExecPlugin{.api_version = "client.authentication.k8s.io/v1", .command = "aws"};
    SimulatedPool pool(loop, 1);
    options.plugin_workers = &pool;
    options.run = [&](const CallContext&, const ChildOptions&) -> absl::StatusOr<ChildResult> {
      return ChildResult{
          .output = StrCat(
              R"({"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1","status":)",
              certificate ? R"({"clientCertificateData":"-----BEGIN CERTIFICATE-----",)"
                            R"("clientKeyData":"-----BEGIN KEY"}})"
                          : R"({"token":"printed"}})")};
    };
    fake.ForgetRequests();
    auto registry = Started();
    ComponentIdentity* one = *registry->Component("local", "scope-instance");
    EXPECT_TRUE(registry->Status(*one).usable) << registry->Status(*one).last_error;
    ASSERT_EQ(fake.requests().size(), 2u);
    EXPECT_EQ(fake.requests()[0].token,
              certificate ? std::nullopt : std::optional<std::string>("printed"));
    // The components' tokens are sent on connections without a certificate.
    const auto token = one->tokens()->Cached();
    const HttpRequest request = one->Request(token.get(), "GET", "/version");
    EXPECT_TRUE(std::holds_alternative<BearerToken>(request.credential));
    EXPECT_FALSE(request.endpoint->client_certificate.has_value());
    BaseIdentity* base = *registry->Base(BaseAccessForTest::Make(), "local");
    const HttpRequest own = base->Request(base->tokens()->Cached().get(), "GET", "/version");
    EXPECT_EQ(std::holds_alternative<EndpointCertificate>(own.credential), certificate);
    EXPECT_EQ(own.endpoint->client_certificate.has_value(), certificate);
    registry.reset();
    loop.RunFor(absl::Seconds(1));
  }
}

TEST_F(IdentityRegistryTest, RequestsCarryExactlyTheirOwnToken) {
  auto registry = Started();
  ComponentIdentity* one = *registry->Component("local", "scope-instance");
  const auto token = one->tokens()->Cached();
  const HttpRequest request = one->Request(token.get(), "GET", "/version");
  EXPECT_EQ(std::get<BearerToken>(request.credential).token, token->value);
  EXPECT_EQ(request.user_agent, one->user_agent());
  EXPECT_TRUE(request.headers.empty());
  // Without a token no other credential is used.
  const HttpRequest none = one->Request(nullptr, "GET", "/version");
  EXPECT_EQ(std::get<BearerToken>(none.credential).token, nullptr);
}

TEST_F(IdentityRegistryTest, OnlyBaseUsesAClientCertificate) {
  options.clusters[0].config.base =
      ClientCertificate{.certificate_pem = "C", .key_pem = std::make_shared<const Secret>("K")};
  auto registry = Make();
  BaseIdentity* base = *registry->Base(BaseAccessForTest::Make(), "local");
  EXPECT_EQ(base->tokens(), nullptr);
  EXPECT_TRUE(base->endpoint()->client_certificate.has_value());
  EXPECT_FALSE((*registry->Component("local", "scope-instance"))
                   ->endpoint()
                   ->client_certificate.has_value());
  registry->Start();
  loop.RunFor(absl::Seconds(1));
  EXPECT_EQ(fake.requests()[0].token, std::nullopt);
  EXPECT_EQ((*registry->Component("local", "scope-instance"))->tokens()->Cached()->value->Reveal(),
            "mandate-manager-scope-instance");
}

// A certificate of the endpoint belongs to base alone, and only if base authenticates with it.
TEST_F(IdentityRegistryTest, ComponentsNeverUseTheEndpointsCertificate) {
  options.clusters[0].config.endpoint.client_certificate =
      ClientCertificate{.certificate_pem = "C", .key_pem = std::make_shared<const Secret>("K")};
  auto registry = Make();
  EXPECT_FALSE((*registry->Base(BaseAccessForTest::Make(), "local"))
                   ->endpoint()
                   ->client_certificate.has_value());
  EXPECT_FALSE((*registry->Component("local", "scope-instance"))
                   ->endpoint()
                   ->client_certificate.has_value());
}

TEST_F(IdentityRegistryTest, ImpersonationNamesTheServiceAccountOnBasesToken) {
  options.mode = *ParseIdentityMode("impersonate");
  auto registry = Make();
  registry->Start();
  loop.RunFor(absl::Hours(1));
  EXPECT_TRUE(fake.requests().empty());
  ComponentIdentity* one = *registry->Component("local", "scope-instance");
  const HttpRequest request = one->Request(one->tokens()->Cached().get(), "GET", "/version");
  EXPECT_EQ(std::get<BearerToken>(request.credential).token->Reveal(), "base-token");
  ASSERT_EQ(request.headers.size(), 1u);
  EXPECT_EQ(request.headers[0].first, "Impersonate-User");
  EXPECT_EQ(request.headers[0].second,
            "system:serviceaccount:mandate:mandate-manager-scope-instance");
  EXPECT_TRUE(registry->Status(*one).usable);
}

TEST_F(IdentityRegistryTest, SingleTellsComponentsApartByUserAgentOnly) {
  options.mode = *ParseIdentityMode("single");
  auto registry = Make();
  ComponentIdentity* one = *registry->Component("local", "scope-instance");
  const HttpRequest request = one->Request(one->tokens()->Cached().get(), "GET", "/version");
  EXPECT_EQ(std::get<BearerToken>(request.credential).token->Reveal(), "base-token");
  EXPECT_TRUE(request.headers.empty());
  EXPECT_THAT(request.user_agent, HasSubstr(" scope-instance"));
  EXPECT_EQ(one->username(), "");
}

TEST_F(IdentityRegistryTest, AMissingServiceAccountDegradesItsComponentOnly) {
  fake.Handle([](const HttpRequest& request) {
    return request.target.find("scope-template") != std::string::npos
               ? FakeReply::Json(404, "")
               : FakeReply::Json(201,
                                 R"({"spec":{"expirationSeconds":3600},"status":{"token":"t"}})");
  });
  auto registry = Started();
  EXPECT_TRUE(registry->Status(**registry->Component("local", "scope-instance")).usable);
  const TokenStatus status = registry->Status(**registry->Component("local", "scope-template"));
  EXPECT_FALSE(status.usable);
  EXPECT_EQ(status.state, TokenStatus::State::kDegraded);
  EXPECT_THAT(std::string(status.last_error.message()), HasSubstr("kind: ServiceAccount"));
}

TEST_F(IdentityRegistryTest, ErrorsNameInvalidOptions) {
  const auto error = [&] {
    return std::string(IdentityRegistry::Create(options).status().message());
  };
  const IdentityRegistry::Options good = options;
  options.clusters[0].components = {"Scope"};
  EXPECT_THAT(error(), HasSubstr("\"Scope\" cannot name a component"));
  options.clusters[0].components = {"base"};
  EXPECT_THAT(error(), HasSubstr("\"base\" cannot name a component"));
  options.clusters[0].components = {"a", "a"};
  EXPECT_THAT(error(), HasSubstr("component a is given twice"));
  options = good;
  options.clusters.push_back(options.clusters[0]);
  EXPECT_THAT(error(), HasSubstr("\"local\" is given twice"));
  options = good;
  options.ns = "";
  EXPECT_THAT(error(), HasSubstr("--namespace"));
  options = good;
  options.clusters[0].config.base = StaticToken{};
  EXPECT_THAT(error(), HasSubstr("empty token"));
  EXPECT_EQ(ParseIdentityMode("magic").status().code(), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace mandate
