#include "cmd/program/flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "manager/core/strings.h"
#include "manager/telemetry/mandates.h"
#include "manager/transport/testing/test_pki.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr rbac::Mandate kBaseMandate{.component = "base", .rules = {}};
constexpr std::string_view kUpdate[] = {"update"}, kLeaseGroups[] = {"coordination.k8s.io"},
                           kLeases[] = {"leases"}, kShop[] = {"shop"};
constexpr rbac::MandateRule kShopLease[] = {{.rule = {.verbs = kUpdate,
                                                      .api_groups = kLeaseGroups,
                                                      .resources = kLeases,
                                                      .resource_names = kShop}}};
constexpr rbac::Mandate kBaseOfShop{"base", kShopLease};
constexpr rbac::Mandate kA{.component = "a", .rules = {}};
constexpr rbac::Mandate kB{.component = "b", .rules = {}};

constexpr rbac::DeclaredWebhook kHooks[] = {{"/validate", false, "hook.example.com"}};
constexpr rbac::Mandate kHook = {"hook", {}, kHooks};
constexpr rbac::Mandate kCertificates = {"webhook-certificates", {}};
std::vector<ComponentSpec> Known() {
  const auto webhooks = [](const Component&) -> absl::StatusOr<Webhooks> { return Webhooks(); };
  return {{&kA}, {&kB}, {&kMetricsAuth}, {&kHook, {}, webhooks}, {&kCertificates, {}, webhooks}};
}

class FlagsTest : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("KUBECONFIG");
    unsetenv("KUBERNETES_SERVICE_HOST");
    path_ = StrCat(testing::TempDir(), "/kubeconfig");
    std::ofstream(path_) << R"(
apiVersion: v1
kind: Config
current-context: x
clusters: [{name: c, cluster: {server: "https://127.0.0.1:6443", certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==}}]
users: [{name: u, user: {tokenFile: /nonexistent/token}}]
contexts: [{name: x, context: {cluster: c, user: u, namespace: from-context}}]
)";
  }

  absl::StatusOr<Flags> Parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "mandate-manager");
    std::vector<char*> argv;
    for (std::string& a : arguments) argv.push_back(a.data());
    const Program program = {
        .name = "mandate-manager",
        .description = "Runs two controllers.",
        .version = "1.2.3",
        .base_mandate = base_,
        .components =
            [this](std::shared_ptr<const certificates::Settings> settings) {
              certificates_ = std::move(settings);
              return Known();
            },
        .add_flags = [this](CLI::App& app) { app.add_option("--own", own_, "A flag of its own."); },
    };
    return ParseFlags(program, static_cast<int>(argv.size()), argv.data());
  }

  // What ParseFlags() gives the components.
  std::shared_ptr<const certificates::Settings> certificates_;
  std::string own_;
  const rbac::Mandate* base_ = &kBaseMandate;

  std::string path_;
};

TEST_F(FlagsTest, DefaultsAreThoseOfAControllerManager) {
  const auto flags = Parse({"--kubeconfig=" + path_});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->components.size(), 2u);
  EXPECT_EQ(flags->manager.ns, "from-context");
  EXPECT_TRUE(flags->manager.leader_elect);
  EXPECT_EQ(flags->manager.identity_mode, IdentityMode::kToken);
  EXPECT_EQ(flags->manager.guard, GuardMode::kEnforce);
  EXPECT_FALSE(flags->manager.create_service_accounts);
  EXPECT_FALSE(flags->allow_core_dumps);
  EXPECT_EQ(flags->manager.debug_address, "0");
  EXPECT_THAT(flags->manager.watch_namespaces, IsEmpty());
  EXPECT_THAT(flags->manager.health_address, HasSubstr("127.0.0.1"));
  EXPECT_THAT(flags->manager.metrics_address, HasSubstr("127.0.0.1"));
}

TEST_F(FlagsTest, FlagsSetOptions) {
  const auto flags =
      Parse({"--kubeconfig", path_, "--namespace=elsewhere", "--controllers=*,-a",
             "--leader-elect=false", "--identity-mode=single", "--guard-mode=warn",
             "--create-service-accounts", "--health-address=0", "--metrics-address=[::1]:9", "-v=3",
             "--allow-core-dumps", "--debug-bind-address=127.0.0.1:6060"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  ASSERT_EQ(flags->components.size(), 1u);
  EXPECT_EQ(flags->components[0].mandate->component, "b");
  EXPECT_EQ(flags->manager.ns, "elsewhere");
  EXPECT_FALSE(flags->manager.leader_elect);
  EXPECT_EQ(flags->manager.identity_mode, IdentityMode::kSingle);
  EXPECT_EQ(flags->manager.guard, GuardMode::kWarn);
  EXPECT_TRUE(flags->manager.create_service_accounts);
  EXPECT_TRUE(flags->allow_core_dumps);
  EXPECT_EQ(flags->manager.health_address, "0");
  EXPECT_EQ(flags->manager.metrics_address, "[::1]:9");
  EXPECT_EQ(flags->manager.debug_address, "127.0.0.1:6060");
}

TEST_F(FlagsTest, AcceptsTheFieldsNamesOfFlags) {
  const auto flags =
      Parse({"--kubeconfig", path_, "--metrics-bind-address=:8443", "--metrics-secure",
             "--metrics-cert-path=/certs", "--metrics-cert-name=a.crt", "--metrics-cert-key=a.key",
             "--health-probe-bind-address=:8081", "--controllers=a", "--bind-tokens-to-secrets",
             "--token-audiences=https://kubernetes.default.svc,vault", "--token-check-period=30s",
             "--max-watch-size=64Mi", "--watch-namespaces=shop,bank"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->manager.metrics_address, ":8443");
  EXPECT_TRUE(flags->manager.metrics_secure);
  EXPECT_EQ(flags->manager.metrics_certificate.dir, "/certs");
  EXPECT_EQ(flags->manager.metrics_certificate.cert_name, "a.crt");
  EXPECT_EQ(flags->manager.metrics_certificate.key_name, "a.key");
  EXPECT_EQ(flags->manager.health_address, ":8081");
  EXPECT_TRUE(flags->manager.bind_tokens_to_secrets);
  EXPECT_THAT(flags->manager.token_audiences,
              ElementsAre("https://kubernetes.default.svc", "vault"));
  EXPECT_EQ(flags->manager.token_check_period, absl::Seconds(30));
  EXPECT_EQ(flags->manager.max_watch_bytes, 64u << 20);
  EXPECT_THAT(flags->manager.watch_namespaces, ElementsAre("shop", "bank"));
  ASSERT_EQ(flags->components.size(), 2u);
  EXPECT_EQ(flags->components[1].mandate, &kMetricsAuth);
}

TEST_F(FlagsTest, AWebhookAddressEnablesComponentsWithWebhooks) {
  base_ = &kBaseOfShop;
  const auto flags =
      Parse({"--kubeconfig", path_, "--webhook-bind-address=:9443", "--webhook-service-name=svc",
             "--webhook-certificate-duration=1h", "--webhook-ca-duration=4h", "--controllers=a"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(flags->manager.webhook_address, ":9443");
  ASSERT_EQ(flags->components.size(), 3u);
  EXPECT_EQ(flags->components[1].mandate, &kHook);
  EXPECT_EQ(flags->components[2].mandate, &kCertificates);
  ASSERT_NE(flags->manager.webhook_certificate, nullptr);
  EXPECT_EQ(certificates_->serving, flags->manager.webhook_certificate);
  EXPECT_FALSE(certificates_->serving->Ready().ok());
  EXPECT_THAT(certificates_->options.names,
              ElementsAre("DNS:svc.from-context.svc", "DNS:localhost", "IP:127.0.0.1"));
  EXPECT_THAT(certificates_->options.validating,
              ElementsAre(certificates::PublishedConfiguration{"shop-hook-validating",
                                                               {"hook.example.com"}}));
  EXPECT_EQ(certificates_->options.secret, "shop-webhook-certificate");
  EXPECT_EQ(certificates_->options.lifetimes.serving, absl::Hours(1));
  EXPECT_EQ(certificates_->options.lifetimes.authority, absl::Hours(4));
}

TEST_F(FlagsTest, AWebhookCertificateMayComeFromFiles) {
  const KeyPair pair = TestCa().IssueServer({"DNS:localhost"});
  std::ofstream(StrCat(testing::TempDir(), "/tls.crt")) << pair.certificate_pem;
  std::ofstream(StrCat(testing::TempDir(), "/tls.key")) << pair.key_pem;
  const auto flags = Parse({"--kubeconfig", path_, "--webhook-bind-address=:9443",
                            StrCat("--webhook-cert-path=", testing::TempDir()), "--controllers=a"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  ASSERT_EQ(flags->components.size(), 2u) << "nobody makes certificates";
  EXPECT_EQ(flags->components[1].mandate, &kHook);
  EXPECT_TRUE(flags->manager.webhook_certificate->Ready().ok());
}

TEST_F(FlagsTest, AMistakeIsOneLineWithItsFlag) {
  struct Row {
    std::vector<std::string> arguments;
    std::string says;
  };
  const std::string kubeconfig = "--kubeconfig=" + path_;
  const Row rows[] = {
      {{"--no-such-flag"}, "unknown flag --no-such-flag (see"},
      {{"--metrics-adress=0"}, "unknown flag --metrics-adress; did you mean --metrics-address?"},
      {{kubeconfig, "stray"}, "unexpected argument stray"},
      {{kubeconfig, "--controllers=c"}, "--controllers: unknown controller \"c\"; known: a, b"},
      {{kubeconfig, "--controllers=*,-aa"},
       "unknown controller \"aa\"; known: a, b; did you mean a?"},
      {{kubeconfig, "--controllers=-a,-b"}, "--controllers: no controller is enabled"},
      {{kubeconfig, "--controllers=", "--identity-mode=token"}, "--controllers= has no value"},
      {{kubeconfig, "--identity-mode=root"}, "--identity-mode: "},
      {{kubeconfig, "--identity-mode=tokn"}, "impersonate or single; did you mean token?"},
      {{kubeconfig, "--guard=maybe"}, "--guard-mode: "},
      {{kubeconfig, "--guard=wran"}, "warn or enforce; did you mean warn?"},
      {{kubeconfig, "-v=9"}, "9"},
      {{kubeconfig, "--metrics-bind-address=:8080"},
       "--metrics-bind-address: :8080 would serve metrics without authentication; add "
       "--metrics-secure"},
      {{kubeconfig, "--metrics-bind-address=10.0.0.1:8080"}, "add --metrics-secure"},
      {{kubeconfig, "--metrics-bind-address=nowhere"},
       "--metrics-bind-address: \"nowhere\" is not a valid address to listen on; write IP:PORT"},
      {{kubeconfig, "--health-probe-bind-address=8081"}, "--health-probe-bind-address: \"8081\""},
      {{kubeconfig, "--metrics-secure", "--metrics-address=:1", "--health-address=:1"},
       "--metrics-secure: metrics must have an address of their own; :1 serves probes"},
      {{kubeconfig, "--debug-bind-address=:6060"},
       "--debug-bind-address: :6060 can be reached from other machines, and the debug pages need "
       "no authentication; use 127.0.0.1:6060"},
      {{kubeconfig, "--debug-bind-address=nowhere"}, "--debug-bind-address: \"nowhere\" is not"},
      {{kubeconfig, "--watch-namespaces=shop,Bank"},
       "--watch-namespaces: \"Bank\" cannot be a namespace: "},
      {{kubeconfig, "--watch-namespaces=shop,shop"},
       "--watch-namespaces: namespace shop is listed twice"},
      {{kubeconfig, "--controllers=metrics-auth"},
       "--controllers: metrics-auth is not a controller; --metrics-secure enables or disables it"},
      {{kubeconfig, "--webhook-bind-address=nowhere"}, "--webhook-bind-address: \"nowhere\""},
      {{kubeconfig, "--webhook-bind-address=:9443", "--webhook-cert-path=/nonexistent"},
       "--webhook-cert-path: cannot open /nonexistent/tls.crt: No such file or directory"},
      {{kubeconfig, "--webhook-ca-duration=1y"}, "--webhook-ca-duration: \"1y\" is not a duration"},
      {{kubeconfig, "--webhook-ca-duration=100h"},
       "--webhook-certificate-duration: the lifetime of a serving certificate (168h) must be"},
      {{kubeconfig, "--controllers=hook"},
       "--controllers: hook is not a controller; --webhook-bind-address enables or disables it"},
      {{kubeconfig, "--metrics-cert-path=/x"},
       "--metrics-cert-path: the certificate is used only with --metrics-secure"},
      {{kubeconfig, "--identity-mode=single", "--bind-tokens-to-secrets"},
       "--bind-tokens-to-secrets: in mode single components have no tokens"},
      {{kubeconfig, "--identity-mode=impersonate", "--token-audiences=a"},
       "--token-audiences: in mode impersonate components have no tokens"},
      {{kubeconfig, "--token-check-period=soon"},
       "--token-check-period must be a duration between 1s and 1h, got \"soon\""},
      {{kubeconfig, "--token-check-period=0s"},
       "--token-check-period must be a duration between 1s and 1h, got \"0s\""},
      {{kubeconfig, "--max-watch-size=much"},
       "--max-watch-size must be a quantity between 1Mi and 1Ei, got \"much\"; use 1Gi"},
      {{kubeconfig, "--max-watch-size=1000"},
       "--max-watch-size must be a quantity between 1Mi and 1Ei, got \"1000\""},
      {{kubeconfig, "--max-watch-size=99999999999999999999"},
       "must be a quantity between 1Mi and 1Ei"},
      {{kubeconfig, "--credential-plugin-timeout=0s"},
       "--credential-plugin-timeout must be a duration between 1s and 1h, got \"0s\"; use 30s"},
      {{"--kubeconfig=/nonexistent/kubeconfig"},
       "--kubeconfig: cannot open /nonexistent/kubeconfig: No such file or directory; give the "
       "path of a kubeconfig that the manager may read"},
      {{}, "--kubeconfig: required, because $KUBECONFIG is not set"},
  };
  for (const Row& row : rows) {
    const auto flags = Parse(row.arguments);
    ASSERT_FALSE(flags.ok()) << row.says;
    const std::string message(flags.status().message());
    EXPECT_THAT(message, HasSubstr(row.says));
    EXPECT_THAT(message, HasSubstr("mandate-manager --help"));
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST_F(FlagsTest, AProgramHasFlagsAndAVersionOfItsOwn) {
  const auto flags = Parse({"--kubeconfig=" + path_, "--own=x"});
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_EQ(own_, "x");
  EXPECT_EQ(flags->manager.version, "1.2.3");
  EXPECT_EQ(flags->manager.base_mandate, &kBaseMandate);
  testing::internal::CaptureStdout();
  EXPECT_TRUE(Parse({"--version"})->exit_now);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "mandate-manager 1.2.3\n");
}

TEST_F(FlagsTest, AnErrorOfAFileFromTheEnvironmentNamesTheVariable) {
  setenv("KUBECONFIG", "/nonexistent/kubeconfig", 1);
  const auto flags = Parse({});
  unsetenv("KUBECONFIG");
  EXPECT_THAT(std::string(flags.status().message()),
              HasSubstr("$KUBECONFIG: cannot open /nonexistent/kubeconfig"));
}

TEST_F(FlagsTest, HelpNamesEveryController) {
  testing::internal::CaptureStdout();
  const auto flags = Parse({"--help"});
  const std::string help = testing::internal::GetCapturedStdout();
  ASSERT_TRUE(flags.ok()) << flags.status();
  EXPECT_TRUE(flags->exit_now);
  EXPECT_THAT(help, HasSubstr("Usage: mandate-manager [OPTIONS]"));
  EXPECT_THAT(help, HasSubstr("Known: a, b."));
}

TEST(SelectControllersTest, ANameTakesPrecedenceOverAStar) {
  const std::vector<std::string> known = {"a", "b", "c"};
  EXPECT_THAT(*SelectControllers({"*"}, known), ElementsAre("a", "b", "c"));
  EXPECT_THAT(*SelectControllers({"*", "-b"}, known), ElementsAre("a", "c"));
  EXPECT_THAT(*SelectControllers({"-b", "*"}, known), ElementsAre("a", "c"));
  EXPECT_THAT(*SelectControllers({"c", "a"}, known), ElementsAre("a", "c"));
  EXPECT_THAT(*SelectControllers({"a", "-a", "b"}, known), ElementsAre("a", "b"));
  EXPECT_FALSE(SelectControllers({"-a"}, known).ok());
  EXPECT_FALSE(SelectControllers({}, known).ok());
}

}  // namespace
}  // namespace mandate
