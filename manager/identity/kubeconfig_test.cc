#include "manager/identity/kubeconfig.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_replace.h"
#include "manager/core/strings.h"

namespace mandate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kPem[] = "-----BEGIN CERTIFICATE-----\nAA==\n-----END CERTIFICATE-----\n";
// kPem and "KEY" in base64.
constexpr char kPemData[] =
    "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCkFBPT0KLS0tLS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=";
constexpr char kGood[] = R"(
apiVersion: v1
kind: Config
preferences: {}
current-context: here
clusters:
- name: c
  cluster:
    server: https://10.0.0.1:6443/
    certificate-authority: pki/ca.crt
- name: d
  cluster: {server: "https://d", certificate-authority-data: DATA, tls-server-name: api}
contexts:
- name: here
  context: {cluster: c, user: u, namespace: mandate}
- name: there
  context: {cluster: d, user: cert}
users:
- name: u
  user: {tokenFile: ../token}
- name: cert
  user: {client-certificate-data: DATA, client-key: /pki/key.pem}
- name: static
  user: {token: sEcReT}
)";

struct KubeconfigTest : testing::Test {
  absl::StatusOr<ClusterConfig> Load(std::vector<std::string> paths = {"/etc/mandate/config"},
                                     std::string context = "") {
    return LoadKubeconfig(
        paths, {.context = std::move(context),
                .reader = [this](const std::string& p) -> absl::StatusOr<std::string> {
                  const auto at = files.find(p);
                  if (at != files.end()) return at->second;
                  return absl::NotFoundError(StrCat("cannot open ", p));
                },
                .environment = [this](const std::string& name) -> std::optional<std::string> {
                  const auto at = environment.find(name);
                  return at == environment.end() ? std::nullopt : std::optional(at->second);
                }});
  }
  // The error of kGood with `from` replaced by `to`.
  std::string ErrorWith(const std::string& from, const std::string& to) {
    auto& file = files["/etc/mandate/config"];
    const std::string before = file;
    EXPECT_NE(absl::StrReplaceAll({{from, to}}, &file), 0) << from;
    const auto config = Load();
    file = before;
    EXPECT_FALSE(config.ok()) << to;
    EXPECT_THAT(config.status().ToString(), Not(HasSubstr("sEcReT")));
    return std::string(config.status().message());
  }

  std::map<std::string, std::string> environment;
  std::map<std::string, std::string> files = {
      {"/etc/mandate/config", absl::StrReplaceAll(kGood, {{"DATA", kPemData}})},
      {"/etc/mandate/pki/ca.crt", kPem},
      {"/pki/key.pem", "-----BEGIN PRIVATE KEY-----\n"}};
};

TEST_F(KubeconfigTest, ReadsTheCurrentContextWithPathsRelativeToTheFile) {
  const auto config = Load();
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->name, "local");
  EXPECT_EQ(config->ns, "mandate");
  EXPECT_EQ(config->endpoint.server, "https://10.0.0.1:6443");
  EXPECT_EQ(config->endpoint.ca_pem, kPem);
  EXPECT_EQ(config->endpoint.tls_server_name, "");
  EXPECT_FALSE(config->endpoint.client_certificate.has_value());
  EXPECT_EQ(std::get<TokenFile>(config->base).path, "/etc/token");
}

TEST_F(KubeconfigTest, ReadsAnotherContextWithEmbeddedData) {
  const auto config = Load({"/etc/mandate/config"}, "there");
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->endpoint.ca_pem, kPem);
  EXPECT_EQ(config->endpoint.tls_server_name, "api");
  EXPECT_EQ(config->ns, "");
  const auto& certificate = std::get<ClientCertificate>(config->base);
  EXPECT_EQ(certificate.certificate_pem, kPem);
  EXPECT_EQ(certificate.key_pem->Reveal(), "-----BEGIN PRIVATE KEY-----\n");
}

TEST_F(KubeconfigTest, ACaThatIsAFileMayRotateAndOneThatIsEmbeddedMayNot) {
  EXPECT_EQ(Load()->endpoint.ca_file, "/etc/mandate/pki/ca.crt");
  EXPECT_EQ(Load({"/etc/mandate/config"}, "there")->endpoint.ca_file, "");
}

TEST_F(KubeconfigTest, AProxyIsItsOwnOrTheEnvironments) {
  EXPECT_EQ(Load()->endpoint.proxy, "");
  environment["HTTPS_PROXY"] = "http://everybodys:3128";
  EXPECT_EQ(Load()->endpoint.proxy, "http://everybodys:3128");
  environment["NO_PROXY"] = "10.0.0.0/8";
  EXPECT_EQ(Load()->endpoint.proxy, "");
  const std::string ca = "certificate-authority: pki/ca.crt";
  absl::StrReplaceAll({{ca, ca + "\n    proxy-url: http://mine:3128"}},
                      &files["/etc/mandate/config"]);
  EXPECT_EQ(Load()->endpoint.proxy, "http://mine:3128");
}

TEST_F(KubeconfigTest, TokenFileBeatsTokenAndATokenAloneIsStatic) {
  std::string& file = files["/etc/mandate/config"];
  file = absl::StrReplaceAll(file, {{"user: u,", "user: static,"}});
  EXPECT_EQ(std::get<StaticToken>(Load()->base).token->Reveal(), "sEcReT");
  file = absl::StrReplaceAll(file, {{"{token: sEcReT}", "{token: sEcReT, tokenFile: t}"}});
  EXPECT_EQ(std::get<TokenFile>(Load()->base).path, "/etc/mandate/t");
}

TEST_F(KubeconfigTest, WhatIsUnsafeOrUnknownIsRefusedByName) {
  const std::string ca = "certificate-authority: pki/ca.crt";
  EXPECT_THAT(ErrorWith(ca, "insecure-skip-tls-verify: true"),
              HasSubstr("cluster \"c\" says insecure-skip-tls-verify"));
  EXPECT_THAT(ErrorWith(ca, "tls-server-name: x"), HasSubstr("names no certificate-authority"));
  EXPECT_THAT(ErrorWith(ca, "certificate-authority: ../config2"), HasSubstr("/etc/config2"));
  EXPECT_THAT(ErrorWith(ca, "certificate-authority-data: sEcReT!"), HasSubstr("no base64"));
  EXPECT_THAT(ErrorWith(ca, "certificate-authority-data: QUFB"), HasSubstr("no PEM certificate"));
  EXPECT_THAT(ErrorWith("https://10.0.0.1:6443/", "http://10.0.0.1"), HasSubstr("only https"));
  EXPECT_THAT(ErrorWith(ca, ca + "\n    proxy-url: socks5://p"), HasSubstr("\"c\": proxy-url"));
  EXPECT_THAT(ErrorWith(ca, ca + "\n    proxy-url: http://u:sEcReT@p"), HasSubstr("password"));
  const std::string user = "{tokenFile: ../token}";
  EXPECT_THAT(ErrorWith(user, "{exec: {command: aws}}"), HasSubstr("user \"u\" has exec"));
  EXPECT_THAT(ErrorWith(user, "{auth-provider: {name: gcp}}"), HasSubstr("auth-provider"));
  EXPECT_THAT(ErrorWith(user, "{token: sEcReT, as: admin}"), HasSubstr("has as,"));
  EXPECT_THAT(ErrorWith(user, "{username: a, password: sEcReT}"), HasSubstr("password"));
  EXPECT_THAT(ErrorWith(user, "{}"), HasSubstr("user \"u\" has no credential"));
  EXPECT_THAT(ErrorWith(user, "{token: ''}"), HasSubstr("has no credential"));
  EXPECT_THAT(ErrorWith(user, "{client-key: /pki/key.pem}"), HasSubstr("no client-certificate"));
  EXPECT_THAT(ErrorWith(user, "{client-certificate: pki/ca.crt}"), HasSubstr("no client-key"));
  EXPECT_THAT(
      ErrorWith(user, "{token: sEcReT, client-certificate: pki/ca.crt, client-key: /pki/key.pem}"),
      HasSubstr("keep one"));
}

TEST_F(KubeconfigTest, WhatIsMissingOrMalformedIsNamed) {
  EXPECT_THAT(ErrorWith("current-context: here", "current-context: gone"),
              HasSubstr("names the current-context \"gone\", which is not there"));
  EXPECT_THAT(ErrorWith("current-context: here", ""), HasSubstr("names no current-context"));
  EXPECT_THAT(ErrorWith("cluster: c,", "cluster: e,"),
              HasSubstr("context \"here\" names the cluster \"e\""));
  EXPECT_THAT(ErrorWith("user: u,", ""), HasSubstr("names no user"));
  EXPECT_THAT(ErrorWith("- name: d\n", "- name: c\n"), HasSubstr("two clusters named \"c\""));
  EXPECT_THAT(ErrorWith("kind: Config", "kind: Pod"), HasSubstr("its kind is \"Pod\""));
  EXPECT_THAT(ErrorWith("users:", "users: {a: 1}\nx:"), HasSubstr("users is not a list"));
  EXPECT_THAT(ErrorWith("- name: u\n", "- nme: u\n"), HasSubstr("has no name"));
  files["/etc/mandate/config"] = "token: [sEcReT\n";
  EXPECT_THAT(Load().status().ToString(), HasSubstr("/etc/mandate/config is no YAML"));
  EXPECT_THAT(Load().status().ToString(), Not(HasSubstr("sEcReT")));
  for (const char* text : {"", "just words", "[1]"}) {
    files["/etc/mandate/config"] = text;
    EXPECT_EQ(Load().status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
  EXPECT_EQ(Load({"/nowhere"}).status().message(), "cannot open /nowhere");
}

TEST_F(KubeconfigTest, SeveralFilesAreMergedTheFirstWins) {
  files["/a/first"] = R"({"contexts": [{"name": "here", "context":
      {"cluster": "c", "user": "static", "namespace": "first"}}]})";
  const auto config = Load({"/a/none", "/a/first", "/etc/mandate/config"});
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->ns, "first");
  EXPECT_EQ(config->endpoint.ca_pem, kPem);
  EXPECT_TRUE(std::holds_alternative<StaticToken>(config->base));
  EXPECT_EQ(Load({"/a/none", "/b/none"}).status().code(), absl::StatusCode::kNotFound);
}

TEST(KubeconfigPathsTest, FlagThenEnvironmentAndNeverAPersonsOwn) {
  std::map<std::string, std::string> env = {{"HOME", "/root"}};
  const Environment environment = [&](const std::string& name) -> std::optional<std::string> {
    const auto at = env.find(name);
    return at == env.end() ? std::nullopt : std::optional(at->second);
  };
  EXPECT_THAT(KubeconfigPaths("", environment), ElementsAre());
  env["KUBECONFIG"] = "/a::/b";
  EXPECT_THAT(KubeconfigPaths("", environment), ElementsAre("/a", "/b"));
  EXPECT_THAT(KubeconfigPaths("/c:d", environment), ElementsAre("/c:d"));
}

TEST(InClusterConfigTest, ReadsThePodsVolume) {
  std::map<std::string, std::string> env = {{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
                                            {"KUBERNETES_SERVICE_PORT", "443"}};
  std::map<std::string, std::string> files = {{"/sa/ca.crt", kPem}, {"/sa/namespace", "ns\n"}};
  InClusterOptions options;
  options.root = "/sa";
  options.environment = [&](const std::string& name) -> std::optional<std::string> {
    const auto at = env.find(name);
    return at == env.end() ? std::nullopt : std::optional(at->second);
  };
  options.reader = [&](const std::string& path) -> absl::StatusOr<std::string> {
    const auto at = files.find(path);
    if (at != files.end()) return at->second;
    return absl::NotFoundError(StrCat("cannot open ", path));
  };
  const auto config = InClusterConfig(options);
  ASSERT_TRUE(config.ok()) << config.status();
  EXPECT_EQ(config->endpoint.server, "https://10.96.0.1:443");
  EXPECT_EQ(config->endpoint.ca_file, "/sa/ca.crt");
  EXPECT_EQ(config->endpoint.proxy, "");
  EXPECT_EQ(config->ns, "ns");
  EXPECT_EQ(std::get<TokenFile>(config->base).path, "/sa/token");
  env["HTTPS_PROXY"] = "p:3128";
  EXPECT_EQ(InClusterConfig(options)->endpoint.proxy, "http://p:3128");
  env["NO_PROXY"] = "10.96.0.1";
  EXPECT_EQ(InClusterConfig(options)->endpoint.proxy, "");
  env["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  EXPECT_EQ(InClusterConfig(options)->endpoint.server, "https://[fd00::1]:443");
  files.erase("/sa/ca.crt");
  EXPECT_EQ(InClusterConfig(options).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(InClusterConfig(options).status().message()), HasSubstr("/sa/ca.crt"));
  env.erase("KUBERNETES_SERVICE_PORT");
  EXPECT_THAT(std::string(InClusterConfig(options).status().message()), HasSubstr("--kubeconfig"));
}

}  // namespace
}  // namespace mandate
